"""All fingerprints of a bucket, in a few sorted runs on disk.

A level adds one run to each bucket. When a bucket has more than a few, they are merged into one. A fingerprint is a print of
64 bits, by which runs are sorted, and a mark of 16 more beside it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.chunks import Numbers
from farref.model.checker.disk.folder import Folder
from farref.model.checker.slots import Words

Marks = NDArray[np.uint16]

RUNS_MAX: Final = 6
PRINT_BYTES: Final = 8


class Runs:
    """The runs of all buckets: the file of each, and how many fingerprints it has; first all prints, then all marks."""

    def __init__(self, folder: Folder, buckets: int) -> None:
        self._folder = folder
        self.runs: list[list[tuple[str, int]]] = [[] for _ in range(buckets)]
        self.made = 0

    def saved(self) -> dict[str, Any]:
        """Tell which runs there are."""
        return {"runs": self.runs, "made": self.made}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on with the runs that were there."""
        self.runs, self.made = [[(name, size) for name, size in runs] for runs in saved["runs"]], saved["made"]

    def files(self) -> list[str]:
        """List the files of all runs."""
        return [name for names in self.runs for name, _ in names]

    def are_new(self, bucket: int, prints: Words, marks: Marks) -> NDArray[np.bool_]:
        """Say of sorted fingerprints which of them are in no run of a bucket."""
        new = np.ones(prints.size, np.bool_)
        for name, size in self.runs[bucket]:
            left = np.flatnonzero(new)
            if left.size:
                new[left] = ~self._are_in(name, size, prints.take(left), marks.take(left))
        return new

    def _are_in(self, name: str, size: int, prints: Words, marks: Marks) -> NDArray[np.bool_]:
        run: Words = self._folder.read(name, np.uint64, size)
        places = np.searchsorted(run, prints)
        found = np.flatnonzero(run.take(places, mode="clip") == prints)
        is_in = np.zeros(prints.size, np.bool_)
        if found.size:
            run_marks: Marks = self._folder.view(name, np.uint16, PRINT_BYTES * size)
            is_in[found] = run_marks[places.take(found)] == marks.take(found)
            self._look_further(run, run_marks, prints, marks, places, found[~is_in[found]], is_in)
        return is_in

    @staticmethod
    def _look_further(
        run: Words, run_marks: Marks, prints: Words, marks: Marks, places: Numbers, doubtful: Numbers, is_in: Any
    ) -> None:
        """Look at what has the same print and another mark: states that 64 bits do not tell apart, so hardly any."""
        for one in doubtful.tolist():
            end = np.searchsorted(run, prints[one], side="right")
            is_in[one] = bool((run_marks[places[one] : end] == marks[one]).any())

    def add(self, bucket: int, prints: Words, marks: Marks) -> None:
        """Add a run of sorted fingerprints to a bucket."""
        self.made += 1
        name = f"run-{bucket}-{self.made}"
        self._folder.write(name, prints)
        self._folder.write(name, marks)
        self.runs[bucket].append((name, prints.size))
        if len(self.runs[bucket]) > RUNS_MAX:
            self._merge(bucket)

    def _merge(self, bucket: int) -> None:
        runs, self.runs[bucket], read = self.runs[bucket], [], self._folder.read
        prints = np.concatenate([read(name, np.uint64, size) for name, size in runs])
        order = np.argsort(prints, kind="stable")  # which merges what is sorted already
        prints = prints.take(order)
        marks = np.concatenate([read(name, np.uint16, size, PRINT_BYTES * size) for name, size in runs]).take(order)
        self.add(bucket, prints, marks)
