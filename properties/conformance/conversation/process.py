"""The process of an adapter: it is written to and read from in lines, and can be put down with its whole group."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from farref.properties.conformance.conversation.last_words import LastWords

STOP_SECONDS: Final = 20.0
WRITE_SECONDS: Final = 20.0
"""How long an adapter may leave what it is asked unread. It has a pipe full of it then."""
LEAVE_SECONDS: Final = 5.0
LINE_BYTES_MAX: Final = 64 * 1024 * 1024


class AdapterProcess:
    """An adapter that runs, in a process group of its own."""

    def __init__(self, command: Sequence[str], hear: Callable[[bytes], bool], on_end: Callable[[], None]) -> None:
        """Start it, or raise OSError. `hear` is given each line and says whether to go on; `on_end` ends the last."""
        self._stderr = LastWords()
        self._scratch = tempfile.TemporaryDirectory(prefix="farref-")  # what is killed cannot clean up
        pipe, places = subprocess.PIPE, {**os.environ, "TMPDIR": self._scratch.name}
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._stderr.place, start_new_session=True, env=places
            )
        except OSError:
            self._scratch.cleanup()
            raise
        finally:
            self._stderr.begin()
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)
        self._hear, self._on_end = hear, on_end
        self._is_closed = False
        self._fault: str | None = None
        """Why no more is read from it, or written to it, though it lives."""
        self._is_heard = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process, which leads its group."""
        return self._process.pid

    @property
    def is_heard(self) -> bool:
        """Whether answers may still come."""
        return self._is_heard

    def write(self, line: bytes) -> bool:
        """Send a line; say whether it can be read. An adapter that has ended, or closed its input, does not get it."""
        assert self._process.stdin is not None
        try:
            self._write(self._process.stdin.fileno(), memoryview(line))
        except (OSError, ValueError):
            self._fault = self._fault or "the adapter no longer reads its input"
        return self._fault is None

    def _write(self, stream: int, rest: memoryview) -> None:
        """Write all there is; raise TimeoutError if it is not taken. A long line does not fit into the pipe."""
        end, room = time.monotonic() + WRITE_SECONDS, select.poll()
        room.register(stream, select.POLLOUT)
        while rest and self._fault is None:
            if not room.poll(1000 * max(0.0, end - time.monotonic())):
                raise TimeoutError
            rest = rest[os.write(stream, rest) :]

    def why_ended(self) -> str:
        """Say how it ended, or why it is no more heard, with the last that it wrote to its stderr."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its streams end a moment before it does
            self._reader.join(1)  # and may not have been read to their end
        said = f"; its last words: {words}" if (words := self._stderr.said()) else ""
        code = self._process.poll()
        how = f"the adapter ended with exit code {code}" if code is not None else self._fault
        return f"{how or 'the adapter closed its output'}{said}"

    def end(self) -> bool:
        """Tell it that nothing more will be asked; say whether it ends by itself."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        return self._process.poll() is not None

    def leaves_nobody(self) -> bool:
        """Say whether all processes of its group end soon after it."""
        end = time.monotonic() + LEAVE_SECONDS
        while _lives(self.pid):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def put_down(self) -> None:
        """Kill it and every process of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(STOP_SECONDS)
        if not self._is_closed:
            self._is_closed = True
            self._close()

    def _close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        if not self._reader.is_alive():  # otherwise somebody who got away still holds it
            self._process.stdout.close()
        self._stderr.end()
        with suppress(OSError):
            self._scratch.cleanup()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := self._process.stdout.readline(LINE_BYTES_MAX):
                if len(line) == LINE_BYTES_MAX:
                    self._fault = f"the adapter wrote a line of {LINE_BYTES_MAX:,} bytes or more"
                    break
                if not self._hear(line):
                    break
        finally:
            self._is_heard = False
            self._on_end()


def _lives(group: int) -> bool:
    """Say whether a process of a group runs; one that has ended, and that nobody has asked about yet, does not."""
    if not Path("/proc/self/stat").exists():
        with suppress(ProcessLookupError):
            os.killpg(group, 0)
            return True
        return False
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False
