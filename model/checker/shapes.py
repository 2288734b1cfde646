"""The shape of a state: which leaves it has, and the paths that lead to them.

A model's states all have the shape of its initial state, because records, tables and id sets never change their length.
So the leaves can be numbered once, and a state told as the list of its leaves' values. What is not a record, table or id
set in the initial state is a leaf; a leaf may hold any hashable value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from farref.model.checker.interface import Model, ModelError, State
from farref.model.values import IdSet, Table

Path = tuple[str | int, ...]


def is_record(value: object) -> bool:
    """Say whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def is_tree(value: object) -> bool:
    """Say whether a value has parts of its own, that is, is no leaf."""
    return isinstance(value, Table | IdSet) or is_record(value)


class Node:
    """An inner node of the state tree; a child that is a number is a leaf."""

    __slots__ = ("children", "path", "type")

    def __init__(self, type_: type[Any], path: Path, children: tuple[Node | int, ...]) -> None:
        self.type, self.path, self.children = type_, path, children


class Shape:
    """The tree of one model's states, with its leaves numbered from left to right."""

    def __init__(self, initial: State) -> None:
        self.paths: list[Path] = []
        self.initial: list[Any] = []
        self.root = self._grow(initial, ())

    def _grow(self, value: Any, path: Path) -> Node | int:
        if not is_tree(value):
            return self._leaf(value, path)
        names: Sequence[str | int] = value._fields if is_record(value) else range(len(value))
        children = tuple(self._grow(child, (*path, name)) for name, child in zip(names, tuple(value), strict=True))
        return Node(type(value), path, children)

    def _leaf(self, value: Any, path: Path) -> int:
        check_leaf(value, path)
        self.paths.append(path)
        self.initial.append(value)
        return len(self.paths) - 1

    def leaves(self, state: State) -> list[Any]:
        """List the values of a state's leaves."""
        found: list[Any] = []
        self._collect(self.root, state, found)
        return found

    def _collect(self, node: Node | int, value: Any, found: list[Any]) -> None:
        if isinstance(node, int):
            check_leaf(value, self.paths[node])
            found.append(value)
            return
        check_same_shape(node, value)
        for child, part in zip(node.children, tuple(value), strict=True):
            self._collect(child, part, found)

    def state(self, values: Sequence[Any]) -> State:
        """Build the state whose leaves have these values."""
        return self._build(self.root, values)

    def _build(self, node: Node | int, values: Sequence[Any]) -> Any:
        if isinstance(node, int):
            return values[node]
        # A record's own __new__ takes its fields one by one; tuple's takes them all, for records as for tables.
        return tuple.__new__(node.type, [self._build(child, values) for child in node.children])


def check_leaf(value: Any, path: Path) -> None:
    """Refuse a leaf that cannot be told apart from others by hash and equality."""
    try:
        hash(value)
    except TypeError as error:
        raise ModelError(
            f"the leaf at {spell(path)} is a {type(value).__name__}, which cannot be hashed; "
            "build states from NamedTuple, Table, IdSet, bool, Enum, int and None (model/values.py)"
        ) from error


def check_same_shape(node: Node, value: Any) -> None:
    """Refuse a value that has another shape than the initial state had in its place."""
    if type(value) is not node.type or len(value) != len(node.children):
        raise ModelError(
            f"at {spell(node.path)} a state has {describe(value)} where the initial state has a {node.type.__name__} of "
            f"length {len(node.children)}; the shape of a state must not change (model/values.py)"
        )


def check_steps(model: Model, shape: Shape, state: State, candidates: Iterable[int]) -> None:
    """Refuse a model whose steps from a state lead now here, now there, to states of another shape, or are no candidates."""
    expected = frozenset(candidates)
    for place, action in enumerate(model.actions):
        target = model.step(state, action)
        if target != model.step(state, action):
            raise ModelError(f"{action} led to two different states from the same one; step must be deterministic")
        if target is not None:
            shape.leaves(target)
            if place not in expected:
                raise ModelError(f"{action} can happen, and is not among the candidates of the state")


def describe(value: object) -> str:
    """Name a value's type, and its length where it has parts."""
    length = f" of length {len(value)}" if isinstance(value, tuple) else ""
    return f"a {type(value).__name__}{length}"


def spell(path: Path) -> str:
    """Write a path the way the model would: world.forks[2].status."""
    return "state" + "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path)
