"""A chunk of the frontier, and selections from it: some of its rows, word by word.

Most actions are disabled in most states, and the first leaf an action reads already tells. Actions that read the same leaf
first share one selection, and with it the words gathered for it. All of it lives only as long as the chunk is worked on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.columns import Columns
from farref.model.checker.slots import Words

Numbers = NDArray[np.int64]


class Selection:
    """Some rows of a chunk; `rows` tells which, None stands for all of them."""

    def __init__(self, chunk: Chunk, rows: Numbers | None) -> None:
        self.chunk, self.rows = chunk, rows
        self.size = chunk.size if rows is None else rows.size
        self._words: dict[int, Words] = {}

    def word(self, word: int) -> Words:
        """Give one word of each selected row."""
        if self.rows is None:
            return self.chunk.word(word)
        if word not in self._words:
            self._words[word] = self.chunk.word(word).take(self.rows)
        return self._words[word]

    def row(self, position: int) -> list[int]:
        """Give all words of one selected row."""
        return self.chunk.row(position if self.rows is None else int(self.rows[position]))

    def packed(self, positions: Numbers) -> Iterable[tuple[int, ...]]:
        """Give all words of some selected rows. One by one would take several times as long."""
        return self.chunk.packed(self.pick(positions))

    def pick(self, positions: Numbers) -> Numbers:
        """Tell the rows in the chunk of some selected ones."""
        return positions if self.rows is None else self.rows.take(positions)


class Chunk:
    """Some consecutive rows of a level, turned into one array for each word."""

    def __init__(self, columns: Columns, rows: Words) -> None:
        self.columns, self.size = columns, len(rows)
        self._words: list[Words] = list(np.ascontiguousarray(rows.T))
        self._selections: dict[tuple[int, frozenset[int]], Selection] = {}
        self.all = Selection(self, None)

    def word(self, word: int) -> Words:
        """Give one word of each row; a word that was added after the rows were packed is zero in them."""
        while word >= len(self._words):
            self._words.append(np.zeros(self.size, np.uint64))
        return self._words[word]

    def row(self, position: int) -> list[int]:
        """Give all words of one row."""
        return [int(word[position]) for word in self._words]

    def packed(self, rows: Numbers) -> Iterable[tuple[int, ...]]:
        """Give all words of some rows."""
        return zip(*[word.take(rows).tolist() for word in self._words], strict=True)

    def only(self, rows: Numbers) -> Selection:
        """Select rows by number."""
        return Selection(self, rows)

    def without(self, column: int, codes: frozenset[int]) -> Selection:
        """Select the rows whose value in a column is none of the given."""
        if not codes:
            return self.all
        if (column, codes) not in self._selections:
            self._selections[column, codes] = Selection(self, np.flatnonzero(self._differ(column, sorted(codes))))
        return self._selections[column, codes]

    def _differ(self, column: int, codes: Sequence[int]) -> NDArray[np.bool_]:
        columns = self.columns
        offset = np.uint64(columns.offset[column])
        if not columns.mask[column]:
            return np.full(self.size, 0 not in codes)
        values = self.word(columns.word[column]) & np.uint64(columns.field(column))
        differ: NDArray[np.bool_] = values != np.uint64(codes[0]) << offset
        for code in codes[1:]:
            differ &= values != np.uint64(code) << offset
        return differ
