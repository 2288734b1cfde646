"""A table from 64-bit keys to small results that looks up a whole array of keys at once.

Each key has one slot, found by multiplicative hashing; the slot holds the key itself, so a key that was never put in is
recognised. Keys that lose their slot to another go to a further, smaller table, which only the keys not found here ask.
Results are never negative but for -1, so -2 says *unknown*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Results = NDArray[np.int32]

UNKNOWN = -2
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
ROOM = 4  # slots for each key


class Slots:
    """The results of the keys put in at the making."""

    def __init__(self, keys: Words, results: Results, generation: int = 0) -> None:
        bits = max(6, (ROOM * keys.size).bit_length())
        self.shift = np.uint64(64 - bits)
        self.multiplier = np.uint64(MULTIPLIERS[generation % len(MULTIPLIERS)] + 2 * generation)
        self.keys = np.zeros(1 << bits, np.uint64)
        self.results = np.full(1 << bits, UNKNOWN, np.int32)
        places = self._places(keys)
        self.keys[places] = keys  # where several have one place, one of them keeps it
        has_place = self.keys.take(places) == keys
        self.results[places[has_place]] = results[has_place]
        rest = ~has_place
        self.further = Slots(keys[rest], results[rest], generation + 1) if rest.any() else None

    def _places(self, keys: Words) -> NDArray[np.int64]:
        places = keys * self.multiplier
        places >>= self.shift
        return places.view(np.int64)

    def find(self, keys: Words) -> Results:
        """Give each key's result, or UNKNOWN."""
        places = self._places(keys)
        results = self.results.take(places)
        others = self.keys.take(places) != keys
        if others.any():
            elsewhere = np.flatnonzero(others)
            results[elsewhere] = UNKNOWN if self.further is None else self.further.find(keys[elsewhere])
        return results

    def items(self) -> tuple[Words, Results]:
        """Give all keys and results."""
        taken = self.results != UNKNOWN
        keys, results = self.keys[taken], self.results[taken]
        if self.further is None:
            return keys, results
        more_keys, more_results = self.further.items()
        return np.concatenate((keys, more_keys)), np.concatenate((results, more_results))
