"""Counterexamples in sentences: for each thing of a small world one sentence, before the step and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from farref.properties.proof.induction.counterexample import Counterexample
from farref.properties.proof.induction.prove import Failure
from farref.properties.proof.induction.theory import Theory
from farref.properties.proof.logic.formulas import NUMBER
from farref.properties.proof.logic.relations import Named
from farref.properties.proof.logic.small import Small, Thing


@dataclass(frozen=True)
class Row:
    """One thing: what is true of it before the step, and after it."""

    thing: str
    before: tuple[str, ...]
    after: tuple[str, ...] | None


@dataclass(frozen=True)
class Told:
    """A counterexample for people: the step and where it is taken, what is lost, and both states."""

    step: str
    lost: str
    text: str
    rows: tuple[Row, ...]
    place: str
    found: Counterexample

    def sentences(self) -> list[str]:
        """Tell both states."""
        before = [f"Before: {row.thing} {_joined(row.before)}." for row in self.rows if row.before]
        after = [f"After: {row.thing} {_joined(row.after)}." for row in self.rows if row.after]
        return [*before, f"Then {self.step}.", *after, f"Lost: {self.lost}: {self.text}"]


def tell(failure: Failure, found: Counterexample, theory: Theory[Any]) -> Told:
    """Tell a counterexample, without what every fork and RRef of it has in common."""
    where = ", ".join(dict.fromkeys(str(thing) for thing in found.at.values()))
    how = [one.says for one in theory.constant if not one.sorts and (one.name,) in found.before.facts]
    name, _, outcome = failure.place.partition(": ")
    step = f"{name}{f' at {where}' if where else ''}{f' ({_joined(how)})' if how else ''}"
    step += f": {outcome}" if outcome else ""
    return Told(step, failure.claim, failure.text, tuple(_rows(found, theory)), failure.place, found)


def _rows(found: Counterexample, theory: Theory[Any]) -> Iterator[Row]:
    vocabulary = [*theory.state.vocabulary(), *theory.constant]
    for sort, things in found.before.things.items():
        for thing in things if sort != NUMBER.name else ():
            before = tuple(_said(thing, found.before, vocabulary, theory))
            after = None if found.after is None else tuple(_said(thing, found.after, vocabulary, theory))
            if before or after:
                yield Row(str(thing), before, after)
    before = tuple(_alone(found.before, vocabulary, theory))
    after = None if found.after is None else tuple(_alone(found.after, vocabulary, theory))
    if before or after:
        yield Row("in all,", before, after)


def _said(thing: Thing, world: Small, vocabulary: list[Named], theory: Theory[Any]) -> Iterator[str]:
    """List what is true of a thing; that it exists is said only if nothing else is."""
    phrases = [
        one.says.format(*fact[2:])
        for one in vocabulary
        for fact in sorted(world.facts, key=str)
        if fact[0] == one.name and fact[1:2] == (thing,) and one.sorts[0] != NUMBER
    ]
    yield from _values(thing, world, theory) if phrases else ()
    yield from [one for one in phrases if one != "exists" or len(phrases) == 1]


def _values(thing: Thing, world: Small, theory: Theory[Any]) -> Iterator[str]:
    """Say what functions give of a thing, where they could give something else."""
    for name, (sorts, gives) in theory.functions.items():
        said, has_choice = name.replace("_", " "), len(world.things[gives.name]) > 1
        if not sorts and world.functions[name,] == thing:
            yield f"is the {said}"
        elif has_choice and len(sorts) == 1 and thing in world.things[sorts[0].name]:
            yield f"has {world.functions[name, thing]} as its {said.removesuffix(' of')}"


def _alone(world: Small, vocabulary: list[Named], theory: Theory[Any]) -> Iterator[str]:
    """List what is true of no thing in particular: numbers, and what is true of numbers."""
    for name, (sorts, gives) in theory.functions.items():
        if not sorts and gives == NUMBER:
            yield f"the {name} is {world.functions[name,]}"
    for one in vocabulary:
        if one.is_amount:
            yield f"{one.says} is {world.functions[one.name,]}"
        elif one.path and (not one.sorts or one.sorts[0] == NUMBER):
            of = [fact[1:] for fact in sorted(world.facts, key=str) if fact[0] == one.name]
            yield from ([one.says] if not one.sorts and of else [one.says.format(*numbers) for numbers in of])


def _joined(parts: Any) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else str(last)
