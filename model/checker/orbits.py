"""Symmetry: which states are the same but for the names of interchangeable participants.

A renaming maps each leaf (path, value) to a leaf, so it can be learned leaf by leaf and remembered. A state's orbit is
named by the smallest of its renamed leaf tuples, values being told by the number they were first seen under (enum members
have no order of their own).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farref.model.checker.interface import ModelError, Renaming, State
from farref.model.checker.shapes import Shape, spell


class Orbits:
    """Renamed states, for one model's renamings."""

    def __init__(self, shape: Shape, renamings: Iterable[Renaming]) -> None:
        self.shape = shape
        self.renamings = tuple(renamings)
        self._leaf_of = {path: leaf for leaf, path in enumerate(shape.paths)}
        self._numbers: dict[Any, int] = {}
        self._renamed: list[dict[tuple[int, Any], tuple[int, Any]]] = [{} for _ in self.renamings]

    def rename(self, which: int, leaf: int, value: Any) -> tuple[int, Any]:
        """Tell the leaf and value that one leaf's value becomes under a renaming."""
        renamed = self._renamed[which]
        if (leaf, value) not in renamed:
            path, new_value = self.renamings[which].leaf(self.shape.paths[leaf], value)
            if path not in self._leaf_of:
                raise ModelError(
                    f"a renaming maps {spell(self.shape.paths[leaf])} to {spell(path)}, which does not exist"
                )
            renamed[leaf, value] = self._leaf_of[path], new_value
        return renamed[leaf, value]

    def key(self, state: State) -> tuple[int, ...]:
        """Give the same tuple for two states if and only if one is the other renamed."""
        leaves = self.shape.leaves(state)
        names = [tuple(self._number(value) for value in leaves)]
        for which in range(len(self.renamings)):
            renamed = [0] * len(leaves)
            for leaf, value in enumerate(leaves):
                target, new_value = self.rename(which, leaf, value)
                renamed[target] = self._number(new_value)
            names.append(tuple(renamed))
        return min(names)

    def _number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))
