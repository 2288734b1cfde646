"""Small worlds: a few things of each sort, and what is true of them. Formulas are looked up in them, with no solver at all.

A formula is first written as a Python function, since the same formula is looked up in many worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from farref.properties.proof.logic import formulas as fol
from farref.properties.proof.logic.relations import Relations

Thing = str | int
Fact = tuple[Thing, ...]
"""The name of a relation, then what it holds of."""


@dataclass(frozen=True)
class Small:
    """A small world: what there is, what is true of it, and what functions give."""

    things: Mapping[str, tuple[Thing, ...]]  # by sort
    facts: frozenset[Fact]
    functions: Mapping[Fact, Thing] = field(default_factory=dict)


Check = Callable[..., bool]
"""A formula as a function: of a small world, and of what its parameters stand for."""


def compiled(formula: fol.Formula, parameters: Sequence[fol.Variable] = ()) -> Check:
    """Write a formula as a Python function of a small world and of some parameters."""
    names = ", ".join(["world", *map(_name, parameters)])
    body = "facts, things, functions = world.facts, world.things, world.functions"
    scope: dict[str, Any] = {}
    exec(f"def check({names}):\n    {body}\n    return {_formula(formula)}", scope)
    found: Check = scope["check"]
    return found


def _formula(formula: fol.Formula) -> str:
    match formula:
        case fol.Constant(value):
            return str(value)
        case fol.Related(name, arguments):
            return f"({name!r},{''.join(f'{_term(one)},' for one in arguments)}) in facts"
        case fol.Equal(left, right):
            return f"{_term(left)} == {_term(right)}"
        case fol.AtMost(left, right):
            return f"{_term(left)} <= {_term(right)}"
        case fol.Negation(of):
            return f"not ({_formula(of)})"
        case fol.Conjunction(parts):
            return " and ".join(f"({_formula(one)})" for one in parts)
        case fol.Disjunction(parts):
            return " or ".join(f"({_formula(one)})" for one in parts)
        case fol.Universal(variable, body):
            return f"all({_formula(body)} for {_name(variable)} in things[{variable.sort.name!r}])"
        case fol.Existential(variable, body):
            return f"any({_formula(body)} for {_name(variable)} in things[{variable.sort.name!r}])"
        case _:
            raise AssertionError(f"{formula} is not a formula")


def _term(term: fol.Term) -> str:
    match term:
        case fol.Variable():
            return _name(term)
        case fol.Applied(name, arguments):
            return f"functions[{name!r},{''.join(f'{_term(one)},' for one in arguments)}]"
        case fol.Number(value):
            return str(value)
        case fol.Sum(parts):
            return f"({' + '.join(map(_term, parts))})"
        case fol.Choice(condition, then, otherwise):
            return f"({_term(then)} if {_formula(condition)} else {_term(otherwise)})"


def _name(variable: fol.Variable) -> str:
    return f"the_{variable.name}"


# -- states after a step -----------------------------------------------------------------------------------------------


class Follower:
    """Gives the small world after a step: for each relation that the step changes, a function that looks it up."""

    def __init__(self, before: Relations, after: Relations, parameters: Sequence[fol.Variable]) -> None:
        self.relations: list[tuple[str, tuple[str, ...], Check]] = []
        self.amounts: list[tuple[str, Callable[..., int]]] = []
        for one in before.vocabulary():
            if one.of(before) is one.of(after):
                continue
            things = [fol.Variable(f"x{number}", sort) for number, sort in enumerate(one.sorts)]
            said = one.of(after)(*things)
            if one.is_amount:
                self.amounts.append((one.name, _computed(said, parameters)))
            else:
                sorts = tuple(sort.name for sort in one.sorts)
                self.relations.append((one.name, sorts, compiled(said, (*parameters, *things))))

    def __call__(self, world: Small, *given: Thing) -> Small:
        """Give the world after the step."""
        touched = {name for name, _, _ in self.relations}
        kept = {fact for fact in world.facts if fact[0] not in touched}
        numbers: dict[Fact, Thing] = {(name,): amount(world, *given) for name, amount in self.amounts}
        facts = frozenset(kept | set(self._new(world, given)))
        return Small(world.things, facts, {**world.functions, **numbers})

    def _new(self, world: Small, given: tuple[Thing, ...]) -> Iterator[Fact]:
        for name, sorts, check in self.relations:
            for things in product(*(world.things[sort] for sort in sorts)):
                if check(world, *given, *things):
                    yield (name, *things)


def _computed(term: fol.Term, parameters: Sequence[fol.Variable]) -> Callable[..., int]:
    names = ", ".join(["world", *map(_name, parameters)])
    body = "facts, things, functions = world.facts, world.things, world.functions"
    scope: dict[str, Any] = {}
    exec(f"def compute({names}):\n    {body}\n    return {_term(term)}", scope)
    found: Callable[..., int] = scope["compute"]
    return found
