"""Outcomes: what actions do to a state, each told once, as bits to flip.

The footprint of a step fixes the old and the new value of everything it writes. So what it does to a packed row is always
the same: flip certain bits. The same goes for fingerprints, which are the exclusive or, over all leaves, of a random number
for each (leaf, value). With symmetry a state has one fingerprint for each renaming, namely that of the renamed state; the
smallest of them is the fingerprint of the orbit.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from farref.model.checker.columns import Columns
from farref.model.checker.orbits import Orbits
from farref.model.checker.slots import Words
from farref.model.checker.views import Reader, changes_to

DISABLED = -1
STAY = 0  # the outcome that changes nothing
SEED = 20250117

Change = tuple[int, int, int]
"""A column, and the codes of its old and new value."""


class Outcomes:
    """All outcomes seen, by number: the changes they stand for, and the bits they flip in rows and fingerprints."""

    def __init__(self, columns: Columns, orbits: Orbits, print_words: int = 1) -> None:
        self.columns, self.orbits, self._print_words = columns, orbits, print_words
        self.changes: list[tuple[Change, ...]] = []
        self.rows = np.zeros((64, 1), np.uint64)
        self.prints = [np.zeros(64, np.uint64) for _ in range(print_words * (1 + len(orbits.renamings)))]
        self._numbers: dict[tuple[Change, ...], int] = {}
        self._random, self.drawn = Random(SEED), dict[tuple[int, Any], list[int]]()
        self._number(())

    def initial_prints(self) -> list[Words]:
        """Give the fingerprint of the initial state, and of its renamings."""
        prints = [0] * len(self.prints)
        for leaf, value in enumerate(self.columns.shape.initial):
            for which, bits in enumerate(self._leaf_prints(leaf, value)):
                prints[which] ^= bits
        return [np.array([bits], np.uint64) for bits in prints]

    def conclude(self, reader: Reader, state: Any) -> int:
        """Number what a step did: whether it was enabled, and what it changed."""
        if state is None:
            return DISABLED
        changes = changes_to(reader, state)
        code = self.columns.code
        return self._number(tuple((c, reader.reads[c], code(c, value)) for c, value in sorted(changes.items())))

    def _number(self, changes: tuple[Change, ...]) -> int:
        number = self._numbers.setdefault(changes, len(self.changes))
        if number == len(self.changes):
            self.changes.append(changes)
            self._make_room(number)
            for column, old, new in changes:
                self._flip(number, column, old, new)
        return number

    def _make_room(self, number: int) -> None:
        height, width = self.rows.shape
        new_height, new_width = (height if number < height else 2 * height), max(1, self.columns.words)
        if (new_height, new_width) != (height, width):
            self.rows = np.pad(self.rows, ((0, new_height - height), (0, new_width - width)))
        if new_height != height:
            self.prints = [np.pad(prints, (0, new_height - height)) for prints in self.prints]

    def _flip(self, number: int, column: int, old: int, new: int) -> None:
        columns = self.columns
        self.rows[number, columns.word[column]] ^= np.uint64((old ^ new) << columns.offset[column])
        values = columns.values[column]
        pairs = zip(self._leaf_prints(column, values[old]), self._leaf_prints(column, values[new]), strict=True)
        for which, (before, after) in enumerate(pairs):
            self.prints[which][number] ^= np.uint64(before ^ after)

    def _leaf_prints(self, leaf: int, value: Any) -> list[int]:
        renamed = [self.orbits.rename(which, leaf, value) for which in range(len(self.orbits.renamings))]
        return [word for one in [(leaf, value), *renamed] for word in self.draw(one)]

    def draw(self, leaf: tuple[int, Any]) -> list[int]:
        """Give the random words for a value of a leaf."""
        if leaf not in self.drawn:
            self.drawn[leaf] = [self._random.getrandbits(64) for _ in range(self._print_words)]
        return self.drawn[leaf]
