"""The fingerprints of all states found so far, in a hash table that is asked and filled an array at a time.

A fingerprint's place in the table is found by multiplicative hashing (the smallest fingerprint of an orbit is no longer
evenly distributed, so its own bits would not do); if that place is taken by another it goes to the next free one (linear
probing). An array of fingerprints is put in by rounds: each one that meets its like is old; those that meet a free
place write their number there and read it back, which tells for each place who was served; the rest move on by one.
"""

from __future__ import annotations

import numpy as np

from farref.model.checker.chunks import Numbers
from farref.model.checker.slots import Words

START_BITS = 12
LOAD_MAX = 0.6
MOVE_AT_ONCE = 1 << 18
SCATTER = np.uint64(0x9E3779B97F4A7C15)


class Visited:
    """A set of fingerprints other than 0."""

    def __init__(self) -> None:
        self._bits = START_BITS
        self._table = np.zeros(1 << START_BITS, np.uint64)
        self.size = 0

    def add(self, prints: Words) -> Numbers:
        """Put fingerprints in; give the positions, in order, of those that are new, one for each."""
        while self.size + prints.size > LOAD_MAX * self._table.size:
            self._grow()
        new = self._put(prints)
        self.size += new.size
        return new

    def _put(self, prints: Words) -> Numbers:
        table, last = self._table, self._table.size - 1
        places = (prints * SCATTER >> np.uint64(64 - self._bits)).view(np.int64)
        waiting, wanted = np.arange(prints.size), prints
        served: list[Numbers] = []
        while waiting.size:
            found = table.take(places)
            free = np.flatnonzero(found == 0)
            if free.size:
                free_places = places.take(free)
                served.append(self._claim(prints, free_places, waiting.take(free)))
                found[free] = table.take(free_places)
            others = np.flatnonzero(found != wanted)
            waiting, wanted, places = waiting.take(others), wanted.take(others), (places.take(others) + 1) & last
        return np.sort(np.concatenate(served)) if served else np.empty(0, np.int64)

    def _claim(self, prints: Words, places: Numbers, positions: Numbers) -> Numbers:
        """Take free places; where several want the same one, serve one of them. Give the positions served."""
        table = self._table
        table[places[::-1]] = positions[::-1].view(np.uint64)
        winners = table.take(places).view(np.int64) == positions
        places, positions = places[winners], positions[winners]
        table[places] = prints[positions]
        return positions

    def _grow(self) -> None:
        old = self._table
        self._bits += 1
        self._table = np.zeros(1 << self._bits, np.uint64)
        for start in range(0, old.size, MOVE_AT_ONCE):
            part = old[start : start + MOVE_AT_ONCE]
            self._put(part[part != 0])
