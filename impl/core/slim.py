"""Tables that are small while they are nearly empty. A worker may hold very many references, and most have one fork, no fetch
under way, no child and nobody waiting: an empty dictionary for each of these would be most of what a reference weighs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from farref.impl.core.ids import ForkId, WorkerId


class _NoList(list[Any]):
    """A list that stays empty. It can be hashed, so that it can be the default of a field."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def append(self, item: object) -> NoReturn:
        raise TypeError(f"{item} is added to the list that all share who have nothing")


class _NoDictionary(dict[Any, Any]):
    """A dictionary that stays empty. It can be hashed, so that it can be the default of a field."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError(f"{key} is added to the dictionary that all share who have nothing")


EMPTY_LIST: Final[list[Any]] = _NoList()
EMPTY_DICTIONARY: Final[dict[Any, Any]] = _NoDictionary()
"""Shared by all who have nothing: to be replaced before the first write."""


class Forks:
    """The forks of one entry and who holds each. The first one needs no dictionary."""

    __slots__ = ("_fork", "_holder", "_others")

    def __init__(self) -> None:
        self._fork: ForkId | None = None
        self._holder: WorkerId | None = None
        self._others: dict[ForkId, WorkerId] = EMPTY_DICTIONARY

    def __setitem__(self, fork: ForkId, holder: WorkerId) -> None:
        if self._fork == fork or (self._fork is None and fork not in self._others):
            self._fork, self._holder = fork, holder
        elif self._others:
            self._others[fork] = holder
        else:
            self._others = {fork: holder}

    def get(self, fork: ForkId) -> WorkerId | None:
        """Say who holds a fork, if it is counted."""
        return self._holder if self._fork == fork else self._others.get(fork)

    def pop(self, fork: ForkId, default: None = None) -> WorkerId | None:
        """Stop counting a fork, and say who held it, if it was counted."""
        if self._fork != fork:
            return self._others.pop(fork, default)
        holder, self._fork, self._holder = self._holder, None, None
        return holder

    def __delitem__(self, fork: ForkId) -> None:
        if self.pop(fork) is None:
            raise KeyError(fork)

    def __bool__(self) -> bool:
        return self._fork is not None or bool(self._others)

    def __len__(self) -> int:
        return (self._fork is not None) + len(self._others)

    def items(self) -> Iterator[tuple[ForkId, WorkerId]]:
        """List the forks that are counted, each with its holder."""
        if self._fork is not None and self._holder is not None:
            yield self._fork, self._holder
        yield from self._others.items()
