"""Columns: the leaves of a state as small numbers, packed into 64-bit words.

Each leaf of the state tree is a column. Its values are numbered as they are first seen, the initial one being 0, so the
initial state is a row of zero bits. A column is given bits only when some action first writes it: leaves that never change
cost nothing, and rows already packed stay valid, because the new bits are zero in them and zero means unchanged. A field
never straddles two words.

How many values a column will have is guessed from its type. A guess that proves too low is an early and rare event; the
search then starts again with a wider column (`TooNarrow`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from farref.model.checker.interface import ModelError, State
from farref.model.checker.shapes import Shape, check_leaf, spell

WORD_BITS = 64
PLAIN_BITS = 4
BITS_MAX = 32


class TooNarrow(Exception):  # noqa: N818 (not an error: the search begins again)
    """A column has more values than its bits can tell apart."""

    def __init__(self, column: int, bits: int) -> None:
        super().__init__(column)
        self.column, self.bits = column, bits


class Columns:
    """The numbering of each column's values, and its place in a row."""

    def __init__(self, shape: Shape, bits_wanted: Mapping[int, int]) -> None:
        self.shape, self.bits_wanted = shape, bits_wanted
        self.values: list[list[Any]] = [[value] for value in shape.initial]
        self.codes: list[dict[Any, int]] = [{value: 0} for value in shape.initial]
        self.word = [0] * len(shape.paths)
        self.offset = [0] * len(shape.paths)
        self.mask = [0] * len(shape.paths)  # of the bare code; 0 for a column that was never written
        self.written: list[int] = []
        self.used: list[int] = []

    @property
    def words(self) -> int:
        """The number of words in a row."""
        return len(self.used)

    def code(self, column: int, value: Any) -> int:
        """Give the number of a value that was written to a column."""
        check_leaf(value, self.shape.paths[column])
        codes = self.codes[column]
        if value not in codes:
            if not self.mask[column]:
                self._place(column, value)
            if len(codes) > self.mask[column]:
                self._refuse(column)
            codes[value] = len(codes)
            self.values[column].append(value)
        return codes[value]

    def name(self, column: int, value: Any) -> int:
        """Give the number of a value that is only talked about, and need not fit into a row."""
        codes = self.codes[column]
        if value not in codes:
            codes[value] = len(codes)
            self.values[column].append(value)
        return codes[value]

    def _refuse(self, column: int) -> None:
        bits = 2 * max(self.mask[column].bit_length(), PLAIN_BITS // 2)
        if bits > BITS_MAX:
            raise ModelError(f"{spell(self.shape.paths[column])} takes more than 65536 values; is something unbounded?")
        raise TooNarrow(column, bits)

    def _place(self, column: int, value: Any) -> None:
        bits = self.bits_wanted.get(column) or bits_for(self.values[column][0], value)
        word = next((word for word, used in enumerate(self.used) if used + bits <= WORD_BITS), len(self.used))
        if word == len(self.used):
            self.used.append(0)
        self.word[column], self.offset[column], self.mask[column] = word, self.used[word], (1 << bits) - 1
        self.used[word] += bits
        self.written.append(column)

    def field(self, column: int) -> int:
        """Give the bits of a column in its word."""
        return self.mask[column] << self.offset[column]

    def read(self, row: Sequence[int], column: int) -> int:
        """Give the number of a column's value in a row; rows older than a word have zeros there."""
        word = self.word[column]
        return (row[word] >> self.offset[column]) & self.mask[column] if word < len(row) else 0

    def state(self, row: Sequence[int]) -> State:
        """Unpack a row into the state it stands for."""
        leaves = list(self.shape.initial)
        for column in self.written:
            leaves[column] = self.values[column][self.read(row, column)]
        return self.shape.state(leaves)


def bits_for(old: Any, new: Any) -> int:
    """Guess how many bits a column needs from two of its values."""
    if isinstance(old, bool) and isinstance(new, bool):
        return 1
    if isinstance(old, Enum) and type(old) is type(new):
        return max(1, (len(type(old)) - 1).bit_length())
    return PLAIN_BITS
