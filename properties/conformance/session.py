"""A conversation with an adapter, which is always a process of its own, in JSON lines.

A request is `{"id": 7, "verb": "fetch", "worker": "A", "name": "x", "timeout": null}`; its answer has the same id and either
`ok` or `error`. Answers may come in any order. The first request is `hello`, and its answer names the backend.

A backend may hang, and then nothing in it can be relied on. So every request has a deadline, and a session can be put down:
its whole process group is killed. That ends a backend written in any language, with all workers that it started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from farref.properties.conformance.backend import KINDS

PROTOCOL: Final = 1
HELLO_SECONDS: Final = 60.0
STOP_SECONDS: Final = 20.0
UNSUPPORTED: Final = "unsupported"
"""The kind of failure that is the adapter's: it has declared what it cannot do."""
STDERR_LINES: Final = 12


class AdapterError(Exception):
    """The adapter, not the backend, is at fault: it ended, or it says what the protocol does not know."""


class OperationFailed(Exception):  # noqa: N818 (it says what happened)
    """An operation raised. This is an answer: whether it is the right one, the clause says."""

    def __init__(self, kind: str, type_: str, message: str) -> None:
        super().__init__(f"{type_}: {message}" if message else type_)
        self.kind, self.type, self.message = kind, type_, message


class Hang(Exception):  # noqa: N818 (it says what happened)
    """An operation did not end within its deadline."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What an adapter says to a request."""

    id: int
    ok: Any = None
    error: dict[str, str] | None = None


@dataclass(frozen=True)
class Identity:
    """Who the backend says it is."""

    name: str
    version: str
    capabilities: frozenset[str]


class Request:
    """A request under way."""

    def __init__(self, session: Session) -> None:
        self._session, self._done = session, threading.Event()
        self._answer: Answer | None = None

    def settle(self, answer: Answer | None) -> None:
        """Take the answer; none if there will never be one."""
        self._answer = answer
        self._done.set()

    @property
    def done(self) -> bool:
        """Whether it has been answered."""
        return self._done.is_set()

    def wait(self, seconds: float) -> Any:
        """Give what the adapter answered, or raise what became of it instead."""
        if not self._done.wait(seconds):
            raise Hang(seconds)
        if self._answer is None:
            raise AdapterError(self._session.why_ended())
        if (error := self._answer.error) is not None:
            kind = error.get("kind", "error")
            if kind not in KINDS:
                raise AdapterError(f"an error has the kind {kind!r}; there are {', '.join(KINDS)}")
            raise OperationFailed(kind, error.get("type", "Error"), error.get("message", ""))
        return self._answer.ok


class Session:
    """An adapter's process, and what has been asked of it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the session)
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise AdapterError(f"{command[0]} cannot be started: {error.strerror}") from error
        self._lock, self._next = threading.Lock(), 0
        self._requests: dict[int, Request] = {}
        self._complaint: str | None = None
        self._last_words: str | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.identity = self._greet()

    def ask(self, verb: str, arguments: Mapping[str, Any]) -> Request:
        """Send a request."""
        request = Request(self)
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._requests[number] = request
            line = msgspec.json.encode({"id": number, "verb": verb, **arguments}) + b"\n"
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except OSError:
                request.settle(None)
        if not self._reader.is_alive():
            request.settle(None)
        return request

    def why_ended(self) -> str:
        """Say why no more answers come, with the last that the adapter wrote to its stderr."""
        if self._complaint is not None:
            return self._complaint
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its streams end a moment before it does
        said = f"; its last words: {words}" if (words := self.last_words()) else ""
        return f"the adapter ended with exit code {self._process.poll()}{said}"

    def last_words(self) -> str:
        """Give the last lines that the adapter wrote to its stderr."""
        if self._last_words is not None:
            return self._last_words
        self._stderr.seek(0)
        return " / ".join(self._stderr.read().decode(errors="replace").strip().splitlines()[-STDERR_LINES:])

    def close(self) -> None:
        """Let the adapter end by itself, and put down what is left."""
        with suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self.put_down()

    def put_down(self) -> None:
        """Kill the adapter and every process of its group."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(STOP_SECONDS)
        if self._last_words is None:
            self._last_words = self.last_words()
            for stream in (self._process.stdin, self._process.stdout, self._stderr):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]

    def _greet(self) -> Identity:
        try:
            said = self.ask("hello", {"protocol": PROTOCOL}).wait(HELLO_SECONDS)
            identity = Identity(str(said["name"]), str(said["version"]), frozenset(said["capabilities"]))
        except Hang as error:
            self.put_down()
            raise AdapterError(f"the adapter does not answer `hello`: {error}") from error
        except (KeyError, TypeError) as error:
            self.put_down()
            raise AdapterError("the answer to `hello` must have a name, a version and capabilities") from error
        except (OperationFailed, AdapterError) as error:
            self.put_down()
            raise AdapterError(f"the adapter cannot be used: {error}") from error
        except BaseException:  # as Ctrl-C: nothing may be left behind
            self.put_down()
            raise
        return identity

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                answer = msgspec.json.decode(line, type=Answer)
                self._requests.pop(answer.id).settle(answer)
            except (msgspec.DecodeError, KeyError) as error:
                self._complaint = f"the adapter wrote what is no answer to anything: {line[:200]!r} ({error})"
                break
        for request in list(self._requests.values()):
            request.settle(None)
