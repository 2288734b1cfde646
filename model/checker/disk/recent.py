"""Fingerprints that came lately, in a table that forgets: each place has the last one that came to it.

Most successors are found more than once, and most of those within a short time. Whoever is met here need not go to the disk.
To forget one costs no more than that: it is found to be old at the end of the level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.chunks import Numbers
from farref.model.checker.disk.runs import Marks
from farref.model.checker.slots import Words

SCATTER = np.uint64(0xD1B54A32D192ED03)
BYTES_EACH = 8
START_BITS = 18
TAKEN = np.uint64(1 << 16)
FIRSTS_BITS = 18
"""The table that finds the same one twice in a chunk is small: the processor's cache holds it."""


class Recent:
    """A table that grows with what comes, as long as it fits into some memory.

    The place says the first bits of a scattered print. So the word that stands there has its other bits and the mark, which is
    all of the fingerprint, and a bit that says that it is taken.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bits_max = max(START_BITS, (bytes_max // BYTES_EACH).bit_length() - 1)
        self._firsts = np.zeros(1 << FIRSTS_BITS, np.int32)
        self._begin(START_BITS)

    def _begin(self, bits: int) -> None:
        self._bits, self._came = bits, 0
        self._table = np.zeros(1 << bits, np.uint64)

    def unmet(self, prints: Words, marks: Marks) -> Numbers:
        """Give the positions, in order, of those not met lately, hardly one twice; they are met from now on."""
        self._came += prints.size
        if self._came > self._table.size and self._bits < self._bits_max:
            self._begin(min(self._bits + 2, self._bits_max))
        scattered = prints * SCATTER
        places = (scattered >> np.uint64(64 - self._bits)).view(np.int64)
        words = (scattered << np.uint64(self._bits)) | marks | TAKEN
        left = np.flatnonzero(self._table.take(places) != words)
        places, words = places.take(left), words.take(left)
        self._table[places] = words
        unmet: Numbers = left[~self._are_again(places, words)]
        return unmet

    def _are_again(self, places: Numbers, words: Words) -> NDArray[np.bool_]:
        """Say which are in the chunk before; some are missed."""
        spots = places & ((1 << FIRSTS_BITS) - 1)
        numbers = np.arange(words.size, dtype=np.int32)
        self._firsts[spots[::-1]] = numbers[::-1]
        firsts = self._firsts.take(spots)
        again: NDArray[np.bool_] = (firsts != numbers) & (words.take(firsts) == words) & (places.take(firsts) == places)
        return again
