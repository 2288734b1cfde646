"""The journal of a worker as a file (`spec/log.md`)."""

from __future__ import annotations

import os
import time
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


def journal_in(path: Path) -> Journal:
    """Begin a journal in a file; what is there already is lost."""
    file = path.open("wb", BUFFER_BYTES)
    _open.add(file)
    return Journal(file.write, file.close, time.monotonic)
