"""The folder of a search: arrays in files, and a summary that names those that count.

Files are only added. The summary is replaced in one step, at the end of a level. What it does not name is of a level that was
not finished, and goes when the search is taken up again; so do files that were named only by the summary before.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from farref.model.checker.interface import ModelError

SUMMARY: Final = "summary.json"
MARK: Final = "farref-search"
"""A file that says what the folder is: nothing is ever removed from a folder without it."""

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Folder:
    """Where one search keeps its states."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other search use the folder meanwhile."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelError(f"{self.path} cannot be made: {error.strerror}") from error
        holder = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise ModelError(f"another search is at work in {self.path}") from None
        finally:
            os.close(holder)

    def begin(self) -> None:
        """Make the folder, or empty one that an earlier search has left; refuse one with anything else in it."""
        if not (self.path / MARK).exists() and any(self.path.iterdir()):
            raise ModelError(f"{self.path} has files that are not of a search; give a new or an empty folder")
        (self.path / MARK).touch()
        self.keep_only(())

    def summary(self) -> dict[str, Any]:
        """Read what was saved last."""
        try:
            found: dict[str, Any] = json.loads((self.path / SUMMARY).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.path} has no search to go on with: {error}") from error
        return found

    def save(self, summary: dict[str, Any]) -> None:
        """Replace the summary, in one step; the files that it names are on the disk before it is."""
        draft = self.path / f"{SUMMARY}.draft"
        with draft.open("w", encoding="utf-8") as file:
            file.write(json.dumps(summary))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / SUMMARY)

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove every file that is not among these."""
        kept = {MARK, *names}
        for file in self.path.iterdir():
            if file.name not in kept:
                file.unlink()

    def write(self, name: str, array: NDArray[Any]) -> None:
        """Add an array to the end of a file."""
        if array.size:
            with (self.path / name).open("ab") as file:
                file.write(np.ascontiguousarray(array).data)

    def cut(self, name: str, size: int) -> None:
        """Leave only the first bytes of a file."""
        if (self.path / name).exists():
            os.truncate(self.path / name, size)

    def read(self, name: str, kind: DTypeLike, count: int = -1, offset: int = 0) -> NDArray[Any]:
        """Read a file, or so many values of it from some byte on."""
        return np.fromfile(self.path / name, kind, count, offset=offset)

    def view(self, name: str, kind: DTypeLike, offset: int = 0) -> NDArray[Any]:
        """Look at a file without reading it; one that is not there is an empty array."""
        place = self.path / name
        return np.memmap(place, kind, "r", offset) if place.exists() else np.empty(0, kind)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        (self.path / name).unlink(missing_ok=True)
