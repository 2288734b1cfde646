"""Fingerprints that came lately, in a table that forgets: each place has the last one that came to it.

Most successors are found more than once, and most of those within a short time. Whoever is met here need not go to the disk.
To forget one costs no more than that: it is found to be old at the end of the level.
"""

from __future__ import annotations

import numpy as np

from farref.model.checker.chunks import Numbers
from farref.model.checker.disk.runs import Marks
from farref.model.checker.slots import Words

SCATTER = np.uint64(0xD1B54A32D192ED03)
BYTES_EACH = 14
START_BITS = 14


class Recent:
    """A table that grows with what comes, as long as it fits into some memory."""

    def __init__(self, bytes_max: int) -> None:
        self._bits_max = max(START_BITS, (bytes_max // BYTES_EACH).bit_length() - 1)
        self._begin(START_BITS)

    def _begin(self, bits: int) -> None:
        self._bits, self._came = bits, 0
        self._prints = np.zeros(1 << bits, np.uint64)
        self._marks = np.zeros(1 << bits, np.uint16)
        self._firsts = np.zeros(1 << bits, np.int32)

    def unmet(self, prints: Words, marks: Marks) -> Numbers:
        """Give the positions, in order, of those not met lately, one for each; they are met from now on."""
        self._came += prints.size
        if self._came > self._prints.size and self._bits < self._bits_max:
            self._begin(min(self._bits + 2, self._bits_max))
        places = (prints * SCATTER >> np.uint64(64 - self._bits)).view(np.int64)
        is_met = (self._prints.take(places) == prints) & (self._marks.take(places) == marks)
        left = np.flatnonzero(~is_met)
        places, prints, marks = places.take(left), prints.take(left), marks.take(left)
        numbers = np.arange(left.size, dtype=np.int32)
        self._firsts[places[::-1]] = numbers[::-1]
        firsts = self._firsts.take(places)
        again = (firsts != numbers) & (prints.take(firsts) == prints) & (marks.take(firsts) == marks)
        self._prints[places], self._marks[places] = prints, marks
        unmet: Numbers = left[~again]
        return unmet
