"""How a property is made out of predicates. Each is applied to all that it speaks of, so a violation says which one it was.

A predicate is a function of a world, a thing in it, and the bounds; its docstring is the sentence it stands for. Each protocol
says what there is in its worlds: `rref/families.py` has `per_fork` and `per_rref`, `autograd/families.py` has `per_worker`,
`per_pass` and `per_pair`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from farref.model.checker.interface import Case, Kind, Predicate, Property
from farref.properties.protocol import AnyBounds, AnyWorld, Claim
from farref.properties.violation import Violation

Thing = TypeVar("Thing")
AnyPredicate = TypeVar("AnyPredicate", bound=Callable[..., bool])
Reachable = Callable[[AnyBounds], object]
"""Says whether a situation can be reached under some bounds."""


@dataclass(frozen=True)
class Family(Generic[AnyBounds]):
    """A predicate, and its instances under some bounds: one for each thing it speaks of, with the name of that thing."""

    predicate: Callable[..., bool]
    instances: Callable[[AnyBounds], Iterable[tuple[str, Predicate]]]


def family(
    predicate: Callable[[AnyWorld, Thing, AnyBounds], bool], things: Callable[[AnyBounds], Iterable[tuple[str, Thing]]]
) -> Family[AnyBounds]:
    """Apply a predicate to each of some things, which come with their names."""

    def about(thing: Thing, bounds: AnyBounds) -> Predicate:
        return lambda world: predicate(world, thing, bounds)

    return Family(predicate, lambda bounds: [(name, about(thing, bounds)) for name, thing in things(bounds)])


def per_world(predicate: Callable[[AnyWorld, AnyBounds], bool]) -> Family[AnyBounds]:
    """Apply a predicate to the world as a whole."""

    def about(bounds: AnyBounds) -> Predicate:
        return lambda world: predicate(world, bounds)

    return Family(predicate, lambda bounds: [("the whole world", about(bounds))])


def make_property(
    bounds: AnyBounds, kind: Kind, name: str, clause: str, *families: Family[AnyBounds], text: str = ""
) -> Property:
    """Make a property out of predicates.

    The text says in general what they say one by one; without it their sentences are put together.
    """
    sentences = [sentence(one.predicate) for one in families]
    cases = tuple(
        Case(f"{one.predicate.__name__}: {about}", holds, said)
        for one, said in zip(families, sentences, strict=True)
        for about, holds in one.instances(bounds)
    )
    return Property(name, clause, kind, text or " ".join(sentences), cases)


def make_claim(
    name: str, title: str, clause: str, bounds: AnyBounds, kind: Kind, *families: Family[AnyBounds], text: str
) -> Claim:
    """Make a claim out of predicates that are broken within some bounds."""
    return Claim(name, title, text, bounds, clause, make_property(bounds, kind, name, clause, *families))


def situations(
    bounds: AnyBounds,
    known: Mapping[AnyPredicate, tuple[str, Reachable[AnyBounds]]],
    per: Callable[[AnyPredicate], Family[AnyBounds]],
    *,
    everywhere: bool = False,
) -> list[Property]:
    """Make a property of each situation, which is known with its clause: of all, or of those the bounds let a run reach."""
    return [
        make_property(bounds, Kind.SOMETIMES, predicate.__name__, clause, per(predicate))
        for predicate, (clause, is_reachable) in known.items()
        if everywhere or is_reachable(bounds)
    ]


def sending(bounds: AnyBounds, kind: type, clause: str, sends: Family[AnyBounds]) -> Property:
    """Make the property that a kind of message is sent."""
    name = kind.__name__
    return make_property(bounds, Kind.SOMETIMES, f"sends_{name}", clause, sends, text=f"A {name} is sent.")


@cache
def sentence(predicate: Callable[..., bool]) -> str:
    """Give a predicate's docstring without the name of the property it belongs to."""
    text = re.sub(r"^\w+(, [\w ]+)?: ", "", " ".join((predicate.__doc__ or "").split()))
    return text[:1].upper() + text[1:]


def violated(said: Mapping[Callable[..., bool], tuple[str, str]], about: str, *seen: object) -> list[Violation]:
    """List what does not hold of something that was seen, out of predicates with their properties and clauses."""
    broken = [holds for holds in said if not holds(*seen)]
    return [Violation(*said[holds], sentence(holds), about) for holds in broken]
