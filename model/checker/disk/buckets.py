"""The successors of a level, by bucket: in memory as long as they fit, then on disk.

A record is a row of words: the print of the state; its mark, the action and the number of the parent, in one word; and the
packed state. States may have become wider since the first records of a level: the new words of older ones are zero.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.chunks import Numbers
from farref.model.checker.disk.folder import Folder
from farref.model.checker.disk.runs import Marks
from farref.model.checker.slots import Words

PRINT, FOUND, STATE = 0, 1, 2
STATES_MAX: Final = 1 << 32
ACTIONS_MAX: Final = 1 << 16
WORD_BYTES: Final = 8
SCATTER = np.uint64(0x9E3779B97F4A7C15)


def marks_of(found: Words) -> Marks:
    """Tell the marks."""
    return (found >> np.uint64(48)).astype(np.uint16)


class Buckets:
    """The successors of the level at hand: the latest in one piece of memory, and the others on disk.

    One piece, because many that come and go at different times leave holes that no other fits into.
    """

    def __init__(self, folder: Folder, count: int, bytes_max: int) -> None:
        self._folder, self.count = folder, count
        self._shift = np.uint64(64 - (count - 1).bit_length())
        self._memory: Words = np.empty(bytes_max // WORD_BYTES, np.uint64)
        self._latest: Words = self._memory[:0].reshape(0, STATE)
        self._spilled: list[set[int]] = [set() for _ in range(count)]
        self._order: tuple[Numbers, Numbers] | None = None

    def of(self, prints: Words) -> NDArray[np.uint16]:
        """Tell the buckets of states."""
        return (prints * SCATTER >> self._shift).astype(np.uint16)

    def add(self, prints: Words, marks: Marks, parents: Numbers, actions: Numbers, rows: Words) -> None:
        """Make records of successors."""
        made = self._room(prints.size, STATE + rows.shape[1])
        found = (marks.astype(np.uint64) << np.uint64(48)) | (actions.astype(np.uint64) << np.uint64(32))
        made[:, PRINT], made[:, FOUND], made[:, STATE:] = prints, found | parents.astype(np.uint64), rows

    def _room(self, size: int, width: int) -> Words:
        """Give room for records of a width behind the latest, which go to the disk if they are in the way."""
        before = len(self._latest)
        if before and (width != self._latest.shape[1] or (before + size) * width > self._memory.size):
            self._spill()
            before = 0
        if size * width > self._memory.size:
            self._memory = np.empty(size * width, np.uint64)
        self._latest = self._memory[: (before + size) * width].reshape(-1, width)
        self._order = None
        return self._latest[before:]

    def _spill(self) -> None:
        for bucket in range(self.count):
            self._folder.write(_name(bucket, self._latest.shape[1]), self._latest_of(bucket))
            self._spilled[bucket].add(self._latest.shape[1])
        self._latest = self._latest[:0]

    def _latest_of(self, bucket: int) -> Words:
        if self._order is None:
            buckets = self.of(self._latest[:, PRINT])
            order = np.argsort(buckets, kind="stable")
            self._order = order, np.searchsorted(buckets.take(order), np.arange(self.count + 1))
        order, cuts = self._order
        return self._latest.take(order[cuts[bucket] : cuts[bucket + 1]], axis=0)

    def take(self, bucket: int, words: int) -> Words:
        """Take all records out of a bucket, as wide as they have become."""
        parts = [self._latest_of(bucket)]
        for width in sorted(self._spilled[bucket]):
            parts.append(self._folder.view(_name(bucket, width), np.uint64).reshape(-1, width))
            self._folder.remove(_name(bucket, width))  # what is looked at stays until nobody looks any more
        self._spilled[bucket] = set()
        taken = np.zeros((sum(map(len, parts)), STATE + words), np.uint64)
        begin = 0
        for part in parts:
            taken[begin : begin + len(part), : part.shape[1]] = part
            begin += len(part)
        return taken

    def clear(self) -> None:
        """Forget what was taken."""
        self._latest, self._order = self._latest[:0], None


def _name(bucket: int, width: int) -> str:
    return f"successors-{bucket}-{width}"


def first_of_each(taken: Words) -> Numbers:
    """Sort records by fingerprint, and give the positions of one for each."""
    prints, found = taken[:, PRINT], taken[:, FOUND]
    order = np.argsort(prints, kind="stable")
    keys, marks = prints.take(order), marks_of(found.take(order))
    alike = keys[1:] == keys[:-1]
    if (alike & (marks[1:] != marks[:-1])).any():  # states that 64 bits do not tell apart
        order = np.lexsort((marks_of(found), prints))
        keys, marks = prints.take(order), marks_of(found.take(order))
        alike = keys[1:] == keys[:-1]
    first = np.ones(order.size, np.bool_)
    first[1:] = ~(alike & (marks[1:] == marks[:-1]))
    return order[first]
