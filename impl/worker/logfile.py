"""The journal of a worker as a file (`spec/log.md`)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from farref.impl.core.journal import Journal

BUFFER_BYTES: Final = 1 << 16


def journal_in(path: Path) -> Journal:
    """Begin a journal in a file; what is there already is lost."""
    file = path.open("wb", BUFFER_BYTES)
    return Journal(file.write, file.close, time.monotonic)
