"""What a process writes to its stderr: the end of it is kept, however much it is."""

from __future__ import annotations

import os
import select
import threading
from typing import Final

LINES: Final = 12
BYTES: Final = 256 * 1024
PIECE: Final = 64 * 1024
"""As much as a pipe holds."""


class LastWords:
    """A pipe that is read as it fills, so that a process that never stops writing fills no disk."""

    def __init__(self) -> None:
        self._source, self.place = os.pipe()
        """`place` is where the process writes."""
        os.set_blocking(self._source, False)
        self._lock, self._kept = threading.Lock(), b""
        self._is_over = False

    def begin(self) -> None:
        """Read from now on. The process has been started, or could not be, and only others write."""
        os.close(self.place)
        threading.Thread(target=self._read, daemon=True).start()

    def said(self) -> str:
        """Give the last lines, with all that was written until now."""
        self._take()
        return " / ".join(self._kept.decode(errors="replace").strip().splitlines()[-LINES:])

    def end(self) -> None:
        """Read no more, though somebody who got away may still write."""
        self._take()
        self._is_over = True

    def _read(self) -> None:
        written = select.poll()
        written.register(self._source, select.POLLIN)
        while not self._is_over and self._take():
            written.poll()
        with self._lock:
            os.close(self._source)
            self._source = -1

    def _take(self) -> bool:
        """Read what is there; say whether more may come."""
        with self._lock:
            if self._source < 0:
                return False
            try:
                piece = os.read(self._source, PIECE)
            except BlockingIOError:
                return True
            self._kept = (self._kept + piece)[-BYTES:]
            return bool(piece)
