"""A function of the state, learned: its footprints compiled into a table that answers for a whole chunk of states.

The key of a state is its value in every column the function was ever seen to read. The key is built from whole words: each
word that holds such columns is masked, and shifted so that the masked bits of all of them fall into different places. Then
equal keys mean equal values, for certain. Only where no such shifts exist the words are mixed instead, and two keys are the
same number by a chance of 2⁻⁶⁴. A key not in the table yet is looked up in the footprints, which call the function if need
be. When a call reads a column that was never read before, the keys get longer and the table is built anew.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from farref.model.checker.chunks import Chunk, Numbers, Selection
from farref.model.checker.footprints import Branch, Footprints
from farref.model.checker.slots import UNKNOWN, Results, Slots, Words

WORD = (1 << 64) - 1
SHIFTS = sorted(range(-63, 64), key=abs)


class Part(NamedTuple):
    """What one word adds to the key; None for the shift says that it is mixed in."""

    word: int
    mask: np.uint64
    shift: int | None


class Learned:
    """One learned function, for a whole chunk at a time."""

    def __init__(self, footprints: Footprints, dull: int) -> None:
        self.footprints, self.dull = footprints, dull
        self._stamp = (-1, -1)
        self._parts: list[Part] = []
        self._slots = self._no_slots()
        self._dropped: tuple[int, frozenset[int]] = (0, frozenset())

    @staticmethod
    def _no_slots() -> Slots:
        return Slots(np.empty(0, np.uint64), np.empty(0, np.int32))

    def select(self, chunk: Chunk) -> Selection:
        """Drop the rows for which the first column that is read already says that the result is the dull one."""
        root = self.footprints.root
        if not isinstance(root, Branch):
            return chunk.all
        if self._dropped[0] != len(root.children):
            self._dropped = len(root.children), frozenset(c for c, child in root.children.items() if child == self.dull)
        return chunk.without(root.column, self._dropped[1])

    def results(self, selection: Selection) -> Results:
        """Give the result for each selected row."""
        while True:
            self._refresh()
            if not self._parts:
                result = self.footprints.result(selection.row(0))
                if self._is_fresh():
                    return np.full(selection.size, result, np.int32)
                continue
            keys = self._keys(selection)
            results = self._slots.find(keys)
            unknown = np.flatnonzero(results == UNKNOWN)
            if not unknown.size:
                return results
            self._learn(selection, keys, unknown)

    def _learn(self, selection: Selection, keys: Words, unknown: Numbers) -> None:
        new_keys, firsts = np.unique(keys[unknown], return_index=True)
        results = [self.footprints.result(row) for row in selection.packed(unknown[firsts])]
        if self._is_fresh():
            old_keys, old_results = self._slots.items()
            new_results = np.array(results, np.int32)
            self._slots = Slots(np.concatenate((old_keys, new_keys)), np.concatenate((old_results, new_results)))

    def _now(self) -> tuple[int, int]:
        return len(self.footprints.columns), len(self.footprints.packing.written)

    def _is_fresh(self) -> bool:
        if self._stamp == self._now():
            return True
        return self._parts == self._find_parts()

    def _refresh(self) -> None:
        if self._stamp != self._now():
            parts = self._find_parts()
            if parts != self._parts:
                self._parts, self._slots = parts, self._no_slots()
            self._stamp = self._now()

    def _find_parts(self) -> list[Part]:
        packing = self.footprints.packing
        masks: dict[int, int] = {}
        for column in self.footprints.columns:
            if packing.mask[column]:
                masks[packing.word[column]] = masks.get(packing.word[column], 0) | packing.field(column)
        shifts = find_shifts([masks[word] for word in sorted(masks)])
        return [Part(word, np.uint64(masks[word]), shift) for word, shift in zip(sorted(masks), shifts, strict=True)]

    def _keys(self, selection: Selection) -> Words:
        keys: Words | None = None
        for part in self._parts:
            bits = selection.word(part.word) & part.mask
            if part.shift is None:
                bits = mixed(bits, part.word)
                keys = bits if keys is None else keys + bits
                continue
            if part.shift > 0:
                bits <<= np.uint64(part.shift)
            elif part.shift < 0:
                bits >>= np.uint64(-part.shift)
            keys = bits if keys is None else np.bitwise_or(keys, bits, out=keys)
        assert keys is not None
        return keys


def find_shifts(masks: list[int]) -> list[int | None]:
    """Find shifts that bring the bits of all masks into different places; all None if there are none."""
    taken, shifts = 0, []
    for mask in masks:
        for shift in SHIFTS:
            moved = mask << shift if shift >= 0 else mask >> -shift
            if moved <= WORD and moved.bit_count() == mask.bit_count() and not moved & taken:
                break
        else:
            return [None] * len(masks)
        taken |= moved
        shifts.append(shift)
    return list(shifts)


def mixed(bits: Words, word: int) -> Words:
    """Scatter the bits of a word over all 64, one to one, and differently for each word of a row."""
    bits = bits + np.uint64((0x9E3779B97F4A7C15 * (word + 1)) & WORD)
    bits ^= bits >> np.uint64(30)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    bits ^= bits >> np.uint64(27)
    bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return bits
