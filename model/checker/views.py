"""Stand-ins for a state that remember which of its leaves were looked at.

A step function that is deterministic, and sees the state only through such a view, does the same in every state that
agrees on the leaves it read: what it read is its footprint. Everything a view tells must therefore come from recorded
reads. `_replace`, `put`, `add` and `remove` give a view with changes laid over it; a part without changes stays a view, so
nothing is read that nobody asked for. When the step returns, `changes_to` compares what it returned with the state it was
given. There, a write counts as a read of the old value: then the footprint fixes what changes into what.

A view has the attributes of the record, table or set it stands for: methods and properties are taken over from its class,
to be run on the view. What cannot be imitated fails, and is reported as the model's mistake: `isinstance` and `match` on a
part of a state, its text, its hash, and whatever else tuples can do and `values.py` does not name. `type(part)` is the one
question that gets a wrong answer without a word; the engine's audits sample for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index, methodcaller
from typing import Any, Self

from farref.model.checker.columns import Columns
from farref.model.checker.interface import ModelError, State
from farref.model.checker.shapes import Node, check_same_shape, describe, spell
from farref.model.values import IdSet, Table

NOT_TAKEN_OVER = frozenset(
    ("__slots__", "__new__", "__getnewargs__", "__repr__", "__dict__", "__weakref__", "__eq__", "__hash__", "_make")
)


ONLY_VALUES = "only the operations of model/values.py can be used on a state"


class Reader:
    """One state, and the codes of the columns that were read of it, in the order of reading."""

    __slots__ = ("columns", "reads", "row")

    def __init__(self, columns: Columns, row: Sequence[int]) -> None:
        self.columns, self.row = columns, row
        self.reads: dict[int, int] = {}

    def state(self) -> State:
        """Give the state to be read."""
        return look(self, self.columns.shape.root)

    def leaf(self, column: int) -> Any:
        """Read one leaf."""
        columns, reads = self.columns, self.reads
        if column not in reads:
            reads[column] = columns.read(self.row, column)
        return columns.values[column][reads[column]]


class View:
    """A record, table or set that is looked at through a reader, with changes to some of its parts."""

    __slots__ = ("_changes", "_node", "_reader")

    def __init__(self, reader: Reader, node: Node, changes: dict[int, Any]) -> None:
        self._reader, self._node, self._changes = reader, node, changes

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` and `match` ask for when the real class does not answer them."""
        raise ModelError(f"the class of {spell(self._node.path)} was asked for; {ONLY_VALUES}")

    def __repr__(self) -> str:
        raise ModelError(f"the text of {spell(self._node.path)} was asked for; {ONLY_VALUES}")

    def _part(self, position: int) -> Any:
        if self._changes and position in self._changes:
            return self._changes[position]
        part = self._node.children[position]
        return self._reader.leaf(part) if isinstance(part, int) else look(self._reader, part)

    def _changed(self, changes: dict[int, Any]) -> Self:
        return type(self)(self._reader, self._node, {**self._changes, **changes})

    def _position(self, key: Any) -> int:
        if isinstance(key, slice):
            raise ModelError(f"{spell(self._node.path)} was sliced; {ONLY_VALUES}")
        position, length = index(key), len(self._node.children)
        if not -length <= position < length:
            raise IndexError(f"index {position} is out of range for {spell(self._node.path)}, of length {length}")
        return position % length

    def __len__(self) -> int:
        return len(self._node.children)

    def __iter__(self) -> Iterator[Any]:
        return map(self._part, range(len(self._node.children)))

    def __getitem__(self, key: Any) -> Any:
        return self._part(self._position(key))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, View | tuple) or len(self) != len(other):
            return False
        if isinstance(other, View) and self._is_untouched(other):
            return True
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    def _is_untouched(self, other: View) -> bool:
        is_same = self._node is other._node and self._reader is other._reader
        return is_same and not self._changes and not other._changes

    def __hash__(self) -> int:
        raise ModelError(
            f"{spell(self._node.path)} was hashed, that is, used as a key or in a set or cache; "
            "only the operations of model/values.py can be used on parts of a state"
        )


class RecordView(View):
    """Stands for a NamedTuple."""

    __slots__ = ()

    def _replace(self, **changes: Any) -> Self:
        fields = self._node.type._fields
        try:
            return self._changed({fields.index(name): value for name, value in changes.items()})
        except ValueError:
            unknown = sorted(set(changes) - set(fields))
            raise ValueError(f"{spell(self._node.path)} has no fields {unknown}") from None


class TableView(View):
    """Stands for a Table."""

    __slots__ = ()

    def put(self, key: int, value: Any) -> Self:
        """Give this table with the entry for `key` replaced."""
        return self._changed({self._position(key): value})

    def differences(self, other: TableView) -> list[int]:
        """List the ids whose entries differ in another view of this table, looking only where one of them was changed."""
        is_same = self._node is other._node and self._reader is other._reader
        touched = sorted({*self._changes, *other._changes}) if is_same else list(range(len(self)))
        return [position for position in touched if self._part(position) != other._part(position)]


class IdSetView(View):
    """Stands for an IdSet."""

    __slots__ = ()

    def __contains__(self, key: Any) -> bool:
        return bool(self[key])

    def is_empty(self) -> bool:
        """Say whether no id is in the set, looking no further than the first that is."""
        return not any(self)

    def add(self, key: int) -> Self:
        """Give this set with `key` in it."""
        return self._changed({self._position(key): True})

    def remove(self, key: int) -> Self:
        """Give this set without `key`."""
        return self._changed({self._position(key): False})


_view_types: dict[type[Any], type[View]] = {}


def look(reader: Reader, node: Node | int) -> Any:
    """Give a view of one part of a state; a leaf is read at once."""
    if isinstance(node, int):
        return reader.leaf(node)
    view_type = _view_types.get(node.type)
    if view_type is None:
        view_type = _view_types[node.type] = _view_type(node.type)
    return view_type(reader, node, {})


def _view_type(type_: type[Any]) -> type[View]:
    """Make the class of views of one type, with the methods and properties of that type."""
    base = IdSetView if issubclass(type_, IdSet) else TableView if issubclass(type_, Table) else RecordView
    own = NOT_TAKEN_OVER.union(*(vars(parent) for parent in base.__mro__[:-1]))
    body: dict[str, Any] = {"__slots__": ()}
    for parent in reversed(type_.__mro__[: type_.__mro__.index(tuple)]):
        body.update((name, attribute) for name, attribute in vars(parent).items() if name not in own)
    for position, name in enumerate(getattr(type_, "_fields", ())):
        body[name] = property(methodcaller("_part", position))
    return type(f"{type_.__name__}View", (base,), body)


def changes_to(reader: Reader, state: Any) -> dict[int, Any]:
    """Tell which leaves a returned state changes, and to what; each of them is read."""
    changes: dict[int, Any] = {}
    _compare(reader, reader.columns.shape.root, state, changes)
    return changes


def _compare(reader: Reader, node: Node | int, value: Any, changes: dict[int, Any]) -> None:
    if isinstance(node, int):
        _compare_leaf(reader, node, value, changes)
        return
    if isinstance(value, View):
        if value._reader is not reader:
            raise ModelError(f"a part of an earlier state turned up at {spell(node.path)}; step must not keep state")
        if value._node is node:
            for position, part in sorted(value._changes.items()):
                _compare(reader, node.children[position], part, changes)
            return
    if not isinstance(value, View) or value._node.type is not node.type or len(value) != len(node.children):
        check_same_shape(node, value)
    for child, part in zip(node.children, tuple(value), strict=True):
        if isinstance(child, int):
            _compare_leaf(reader, child, part, changes)
        else:
            _compare(reader, child, part, changes)


def _compare_leaf(reader: Reader, column: int, value: Any, changes: dict[int, Any]) -> None:
    if isinstance(value, View):
        path = spell(reader.columns.shape.paths[column])
        raise ModelError(f"at {path} a state has {describe(value)} where the initial state has a leaf")
    if value != reader.leaf(column):
        changes[column] = value
