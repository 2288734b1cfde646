"""What a function of the state has been seen to do, as a tree of the leaves it read.

A deterministic function always reads the same leaf first; which leaf it reads next depends on the values read before, and
on nothing else. So all its calls together form a tree: at each branch a column, below it one subtree for each value seen,
at the end of each path a result. A path is a footprint, and its result is right for every state that agrees with it. The
tree never has to be called twice for the same footprint, and it finds out functions that are not deterministic: their
paths part where they should not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from farref.model.checker.columns import Columns, TooNarrow
from farref.model.checker.interface import ModelError, State
from farref.model.checker.views import Reader

Reads = dict[int, int]
"""The columns read, in order, and the codes of their values."""


@dataclass
class Branch:
    """A column that is read at this point, and what follows for each code of its value."""

    column: int
    children: dict[int, Branch | int] = field(default_factory=dict)


class Footprints:
    """One function of the state, remembered; results are numbers, and `conclude` makes them from what was returned."""

    def __init__(
        self,
        columns: Columns,
        name: str,
        function: Callable[[State], Any],
        conclude: Callable[[Reader, Any], int],
    ) -> None:
        self.packing, self.name = columns, name
        self.function, self.conclude = function, conclude
        self.root: Branch | int | None = None
        self.columns: dict[int, None] = {}  # every column that was ever read
        self.calls = 0

    def result(self, row: Sequence[int]) -> int:
        """Give the function's result for a row, calling the function if no footprint fits."""
        node, read = self.root, self.packing.read
        while isinstance(node, Branch):
            node = node.children.get(read(row, node.column))
        return self._learn(row) if node is None else node

    def paths(self) -> Iterator[tuple[Reads, int]]:
        """List all footprints with their results."""
        todo: list[tuple[Reads, Branch | int]] = [] if self.root is None else [({}, self.root)]
        while todo:
            reads, node = todo.pop()
            if isinstance(node, int):
                yield reads, node
            else:
                todo += (({**reads, node.column: code}, child) for code, child in node.children.items())

    def _learn(self, row: Sequence[int]) -> int:
        reads, result = self._call(row)
        if self._call(row) != (reads, result):
            self._complain()
        self._remember(list(reads.items()), result)
        self.columns.update(dict.fromkeys(reads))
        return result

    def _call(self, row: Sequence[int]) -> tuple[Reads, int]:
        self.calls += 1
        reader = Reader(self.packing, row)
        try:
            result = self.conclude(reader, self.function(reader.state()))
        except (ModelError, TooNarrow):
            raise
        except Exception as error:
            self.function(self.packing.state(row))  # fails as well if the fault is the model's own
            raise ModelError(
                f"{self.name} failed on a view of a state, though not on the state itself ({error!r}); "
                "only the operations of model/values.py can be used on parts of a state"
            ) from error
        return reader.reads, result

    def _remember(self, reads: list[tuple[int, int]], result: int) -> None:
        if not reads:
            self.root = result
            return
        if self.root is None:
            self.root = Branch(reads[0][0])
        node = self.root
        for place, (column, code) in enumerate(reads, start=1):
            if not isinstance(node, Branch) or node.column != column:
                self._complain()
            elif place == len(reads):
                node.children[code] = result
            elif (child := node.children.get(code)) is not None:
                node = child
            else:
                following = node.children[code] = Branch(reads[place][0])
                node = following

    def _complain(self) -> None:
        raise ModelError(
            f"{self.name} did different things with the same state; it must depend on nothing but the state it is given "
            "(no clock, no randomness, no counters, no sets in hash order)"
        )
