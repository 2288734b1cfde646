"""The journal of a worker as a file (`spec/log.md`)."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path
from typing import BinaryIO, Final
from weakref import WeakSet

from farref.impl.core.journal import Journal

BUFFER_BYTES: Final = 1 << 16


_open: Final[WeakSet[BinaryIO]] = WeakSet()


def _forget_in_child() -> None:
    """Let a copy of this process write nothing: what is buffered at a fork is in both, and is the parent's to write."""
    nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for file in _open:
        if not file.closed:
            os.dup2(nothing, file.fileno(), inheritable=False)
    os.close(nothing)


os.register_at_fork(after_in_child=_forget_in_child)


class LogFile:
    """A file that may fail, as on a full disk. What a worker does goes on then, and the log is incomplete."""

    def __init__(self, path: Path) -> None:
        self._path, self._failure = path, ""
        self._file: BinaryIO = path.open("wb", BUFFER_BYTES)
        _open.add(self._file)

    def write(self, line: bytes) -> None:
        """Write a line, unless an earlier one could not be written: what follows a gap means nothing."""
        if not self._failure:
            try:
                self._file.write(line)
            except OSError as error:
                self._failure = str(error)

    def close(self) -> None:
        """Write what is left, and say so if something is missing."""
        try:
            self._file.close()
        except OSError as error:
            self._failure = self._failure or str(error)
        if self._failure:
            warnings.warn(f"the log {self._path} is incomplete: {self._failure}", stacklevel=2)


def journal_in(path: Path) -> Journal:
    """Begin a journal in a file; what is there already is lost."""
    file = LogFile(path)
    return Journal(file.write, file.close, time.monotonic)
