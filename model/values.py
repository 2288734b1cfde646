"""The three shapes a model's state may have: records, tables and sets of ids.

A state is a tree of immutable values. Records are `typing.NamedTuple`s, changed with `record._replace(...)`. A `Table` is a
fixed-length tuple indexed by an id, an `IdSet` a set of small ids drawn from a fixed range. Leaves are booleans, enum
members, small integers and None; leaves of one place that compare equal must be alike (not 1 beside True). Everything
compares and hashes in C, which the reference checker does millions of times.

Only the operations below are used on a state, so that the fast checker may hand a step function a stand-in that records
what was looked at (`checker/views.py`). Nothing else about a state may be asked for: no isinstance, no slicing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import compress
from typing import Any, Self, TypeVar

Value = TypeVar("Value")


class Table(tuple[Value, ...]):
    """A fixed-length table indexed by an id, changed one entry at a time."""

    __slots__ = ()

    def put(self, key: int, value: Value) -> Self:
        """Give this table with the entry for `key` replaced."""
        entries = list(self)
        entries[key] = value
        return type(self)(entries)

    def differences(self, other: Self) -> list[int]:
        """List the ids whose entries differ in another table of the same length."""
        return [key for key, (mine, theirs) in enumerate(zip(self, other, strict=True)) if mine != theirs]


class IdSet(tuple[int, ...]):
    """A set of ids out of a fixed range, kept as one boolean per possible id (its length is the range)."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        return bool(self[key])  # type: ignore[call-overload]

    def members(self) -> Iterator[int]:
        """List the ids in the set, smallest first."""
        return compress(range(len(self)), self)

    def is_empty(self) -> bool:
        """Say whether no id is in the set."""
        return True not in tuple(self)

    def add(self, key: int) -> Self:
        """Give this set with `key` in it."""
        return self._with(key, True)

    def remove(self, key: int) -> Self:
        """Give this set without `key`."""
        return self._with(key, False)

    def _with(self, key: int, present: bool) -> Self:
        flags = list(self)
        flags[key] = present
        return type(self)(flags)


def quicken(*kinds: type[tuple[Any, ...]]) -> None:
    """Let records be changed in half the time: NamedTuple's own `_replace` asks for every field by its name."""
    for kind in kinds:
        kind._replace = _replacing(kind)  # type: ignore[attr-defined]


def _replacing(kind: type[tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    places = {name: place for place, name in enumerate(kind._fields)}  # type: ignore[attr-defined]

    def _replace(self: tuple[Any, ...], /, **changes: Any) -> tuple[Any, ...]:
        values = [*self]
        for name in changes:
            values[places[name]] = changes[name]
        return tuple.__new__(kind, values)

    return _replace


def no_ids(size: int) -> IdSet:
    """Make an empty set for ids 0 to size - 1."""
    return IdSet((False,) * size)
