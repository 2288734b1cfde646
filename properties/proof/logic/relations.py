"""States: records of relations, each a function from things to a formula. A step gives a record with some of them replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self

from farref.properties.proof.logic.formulas import (
    NUMBER,
    Applied,
    Formula,
    Related,
    Sort,
    Term,
    Variable,
    either,
    every,
    iff,
    same,
    truth,
)

Relation = Callable[..., Formula]
Amount = Callable[[], Term]
"""A number that every state has."""


def relation(says: str, *sorts: Sort) -> Any:
    """Declare a relation between things of some sorts, and how it is said of the first of them."""
    return field(metadata={"says": says, "sorts": sorts})


def amount(says: str) -> Any:
    """Declare a number, and how it is called."""
    return field(metadata={"says": says, "sorts": (), "is_amount": True})


def part(kind: type[Relations], called: str) -> Any:
    """Declare a record of relations within a state, and how it is called."""
    return field(metadata={"part": kind, "called": called})


@dataclass(frozen=True)
class Named:
    """One relation of a state: its name, how it is said, what it is between, and how to look it up in a state."""

    name: str
    says: str
    sorts: tuple[Sort, ...]
    path: tuple[str, ...] = ()
    is_amount: bool = False

    def of(self, state: Relations) -> Callable[..., Any]:
        """Give this relation as it is in a state."""
        found: Any = state
        for step in self.path:
            found = getattr(found, step)
        return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Relations:
    """A record of relations. What is derived from them is a method."""

    @classmethod
    def vocabulary(cls) -> Iterator[Named]:
        """List the relations, those of parts with the name of the part before theirs."""
        for one in fields(cls):
            about = one.metadata
            if "part" not in about:
                yield Named(one.name, about["says"], about["sorts"], (one.name,), about.get("is_amount", False))
                continue
            for inner in about["part"].vocabulary():
                path = (one.name, *inner.path)
                yield replace(inner, name=".".join(path), says=inner.says.replace("{part}", about["called"]), path=path)

    @classmethod
    def arbitrary(cls, prefix: tuple[str, ...] = ()) -> Self:
        """Give the state of which nothing is known but the names of its relations."""
        found: dict[str, Any] = {}
        for one in fields(cls):
            path = (*prefix, one.name)
            if "part" in one.metadata:
                found[one.name] = one.metadata["part"].arbitrary(path)
            elif one.metadata.get("is_amount"):
                found[one.name] = partial(Applied, ".".join(path), (), NUMBER)
            else:
                found[one.name] = _relation(".".join(path))
        return cls(**found)

    def but(self, **changes: Any) -> Self:
        """Replace some relations."""
        return replace(self, **changes)

    def at(self, *point: Term, **values: bool | Formula) -> Self:
        """Change what some relations say of one point; a relation without arguments has only one."""
        return self.but(**{name: changed(getattr(self, name), point, truth(to)) for name, to in values.items()})


def _relation(name: str) -> Relation:
    return lambda *things: Related(name, things)


def changed(before: Relation, point: tuple[Term, ...], value: Formula) -> Relation:
    """Change what a relation says of one point."""

    def after(*things: Term) -> Formula:
        here = [same(thing, there) for thing, there in zip(things, point, strict=True)]
        return either(_all(here), value, before(*things))

    return after


def _all(parts: list[Formula]) -> Formula:
    found = truth(True)
    for one in parts:
        found = found & one
    return found


def empty(state: Relations) -> Formula:
    """Say that no relation holds of anything; numbers are left open."""
    found = truth(True)
    for one in state.vocabulary():
        if not one.is_amount:
            found = found & _nowhere(one.of(state), one.sorts, ())
    return found


def _nowhere(relation: Relation, sorts: tuple[Sort, ...], given: tuple[Variable, ...]) -> Formula:
    if not sorts:
        return ~relation(*given)
    return every(sorts[0], lambda thing: _nowhere(relation, sorts[1:], (*given, thing)))


def unchanged(before: Relations, after: Relations, names: Iterator[Named]) -> Formula:
    """Say that some relations are the same in two states."""
    found = truth(True)
    for one in names:
        found = found & _alike(one.of(before), one.of(after), one.sorts, ())
    return found


def _alike(one: Relation, other: Relation, sorts: tuple[Sort, ...], given: tuple[Variable, ...]) -> Formula:
    if one is other:
        return truth(True)
    if not sorts:
        return iff(one(*given), other(*given))
    return every(sorts[0], lambda thing: _alike(one, other, sorts[1:], (*given, thing)))
