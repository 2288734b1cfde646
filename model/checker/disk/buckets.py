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
SCATTER = np.uint64(0x9E3779B97F4A7C15)


def records(prints: Words, marks: Marks, parents: Numbers, actions: Numbers, rows: Words) -> Words:
    """Make records of successors."""
    found = (marks.astype(np.uint64) << np.uint64(48)) | (actions.astype(np.uint64) << np.uint64(32))
    made = np.empty((prints.size, STATE + rows.shape[1]), np.uint64)
    made[:, PRINT], made[:, FOUND], made[:, STATE:] = prints, found | parents.astype(np.uint64), rows
    return made


def marks_of(found: Words) -> Marks:
    """Tell the marks."""
    return (found >> np.uint64(48)).astype(np.uint16)


class Buckets:
    """The successors of the level at hand."""

    def __init__(self, folder: Folder, count: int, bytes_max: int) -> None:
        self._folder, self.count, self._bytes_max = folder, count, bytes_max
        self._shift = np.uint64(64 - (count - 1).bit_length())
        self.clear()

    def clear(self) -> None:
        """Forget what is in memory."""
        self._parts: list[list[Words]] = [[] for _ in range(self.count)]
        self._spilled: list[set[int]] = [set() for _ in range(self.count)]
        self._bytes = 0

    def of(self, prints: Words) -> NDArray[np.uint16]:
        """Tell the buckets of states."""
        return (prints * SCATTER >> self._shift).astype(np.uint16)

    def add(self, made: Words) -> None:
        """Put records into their buckets."""
        buckets = self.of(made[:, PRINT])
        order = np.argsort(buckets, kind="stable")
        cuts = np.searchsorted(buckets.take(order), np.arange(self.count + 1))
        sorted_ = made.take(order, axis=0)
        for bucket in np.flatnonzero(np.diff(cuts)).tolist():
            self._parts[bucket].append(sorted_[cuts[bucket] : cuts[bucket + 1]])
        self._bytes += made.nbytes
        if self._bytes > self._bytes_max:
            self._spill()

    def _spill(self) -> None:
        for bucket, parts in enumerate(self._parts):
            for width in {part.shape[1] for part in parts}:
                same = [part for part in parts if part.shape[1] == width]
                self._folder.write(_name(bucket, width), np.concatenate(same))
                self._spilled[bucket].add(width)
            parts.clear()
        self._bytes = 0

    def take(self, bucket: int, words: int) -> Words:
        """Take all records out of a bucket, as wide as they have become."""
        parts, self._parts[bucket] = self._parts[bucket], []
        for width in sorted(self._spilled[bucket]):
            parts.append(self._folder.read(_name(bucket, width), np.uint64).reshape(-1, width))
            self._folder.remove(_name(bucket, width))
        self._spilled[bucket] = set()
        taken = np.zeros((sum(map(len, parts)), STATE + words), np.uint64)
        begin = 0
        for part in parts:
            taken[begin : begin + len(part), : part.shape[1]] = part
            begin += len(part)
        return taken


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
