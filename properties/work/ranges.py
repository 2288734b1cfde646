"""Ranges of numbers as units of work: as long as workers like them, by what the last ones took."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from farref.properties.work.units import AHEAD, Workers

FIRST: Final = 8
"""How many numbers a unit has as long as nothing is known of how long they take."""

GROWS: Final = 4
"""By how many times a unit may be longer than the one before: the first numbers need not be like the others."""


class Ranges:
    """Cuts numbers into ranges. Where they are cut changes nothing but how long a unit takes."""

    def __init__(self, workers: Workers, first: int, last: int | None) -> None:
        self._workers, self._next, self._last = workers, first, last
        self._length = FIRST if workers.unit_seconds else 1

    def __iter__(self) -> Iterator[range]:
        """Give the ranges; each is cut when it is asked for."""
        while self._last is None or self._next < self._last:
            length = self._length if self._last is None else min(self._length, self._share(self._last - self._next))
            yield range(self._next, self._next + length)
            self._next += length

    def _share(self, left: int) -> int:
        """Towards the end units get shorter, so that all workers end together."""
        return ceil(left / (AHEAD * self._workers.count))

    def learn(self, numbers: int, seconds: float) -> None:
        """Cut the next ranges by how long some numbers took."""
        wanted = self._workers.unit_seconds * numbers / max(seconds, 1e-6)
        self._length = max(1, min(int(wanted), GROWS * self._length))
