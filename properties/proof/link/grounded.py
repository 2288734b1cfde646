"""Formulas about named things, as functions that look up one fact after the other, and none that does not matter.

Whatever the names alone decide is decided here, once: which things are the same, and what functions give. What is left is
asked in order, and only until the answer is known. The checker's fast engine notes what was asked, so the answer holds for
every state that agrees on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from farref.properties.proof.induction.theory import Case, Clause
from farref.properties.proof.logic import formulas as fol
from farref.properties.proof.logic.relations import Relations
from farref.properties.proof.logic.small import Fact, Thing

Holds = Callable[[Fact], bool]
"""Says whether a fact is true."""

Question = Callable[[Holds], bool]
"""A formula whose facts are still to be looked up."""

Meant = Mapping[fol.Variable, Thing]
_Text = str | bool
"""A formula as Python, or what it comes to."""


@dataclass(frozen=True)
class Frame:
    """What there is, what functions give, and facts that are settled beforehand."""

    things: Mapping[str, tuple[Thing, ...]]  # by sort
    functions: Mapping[Fact, Thing]
    settled: Mapping[Fact, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class GroundStep:
    """One way of a step at named things: when it can be taken, and the facts that it changes, each with what it becomes."""

    name: str
    guard: Question
    changes: Mapping[Fact, Question]


def ground(formula: fol.Formula, frame: Frame, meant: Meant) -> Question | bool:
    """Settle what the names decide; what is left is a question, or nothing."""
    text = _formula(formula, frame, meant)
    return text if isinstance(text, bool) else _question(text)


def ground_step(case: Case[Any], before: Relations, frame: Frame, meant: Meant) -> GroundStep | None:
    """Take one way of a step at named things; None where the names alone rule it out."""
    guard = _formula(case.guard, frame, meant)
    return (
        None if guard is False else GroundStep(case.name, _question(guard), dict(_changes(case, before, frame, meant)))
    )


def ground_steps(cases: Iterable[Case[Any]], before: Relations, frame: Frame, meant: Meant) -> tuple[GroundStep, ...]:
    """Write those of several steps that names alone do not rule out."""
    found = (ground_step(case, before, frame, meant) for case in cases)
    return tuple(one for one in found if one is not None)


def ground_about(clause: Clause[Any], state: Relations, frame: Frame, thing: Thing) -> Question | bool:
    """Say a clause of one thing as the first that it speaks of, and of everything else there is."""
    first, *others = (fol.Variable(f"c{place}", sort) for place, sort in enumerate(clause.sorts))
    body = clause.body(state, first, *others)
    for variable in reversed(others):
        body = fol.Universal(variable, body)
    return ground(body, frame, {first: thing})


def ground_clause(clause: Clause[Any], state: Relations, frame: Frame) -> Iterator[tuple[str, Question]]:
    """List the instances of a clause that the names do not settle, each with what it speaks of."""
    variables = [fol.Variable(f"c{place}", sort) for place, sort in enumerate(clause.sorts)]
    body = clause.body(state, *variables)
    for things in product(*(frame.things[sort.name] for sort in clause.sorts)):
        found = ground(body, frame, dict(zip(variables, things, strict=True)))
        assert found is not False, f"{clause.id} is false of {things}, whatever the state"
        if not isinstance(found, bool):
            yield ", ".join(map(str, things)), found


def followed(path: Iterable[Sequence[GroundStep]], holds: Holds) -> tuple[Holds, set[Fact]] | None:
    """Take one step after the other, each in the one way it can go: what holds then, and the facts that were changed.

    None where a step cannot be taken, or in more than one way.
    """
    touched: set[Fact] = set()
    for ways in path:
        found = [one for one in ways if one.guard(holds)]
        if len(found) != 1:
            return None
        holds = _after(found[0].changes, holds)
        touched |= found[0].changes.keys()
    return holds, touched


def _after(changes: Mapping[Fact, Question], before: Holds) -> Holds:
    return lambda fact: changes[fact](before) if fact in changes else before(fact)


def differs(path: Iterable[Sequence[GroundStep]], before: Holds, after: Holds, touched: Iterable[Fact]) -> bool:
    """Say whether these steps of the proof lead to anything else than what holds after a step of the model.

    `touched` are the facts that the step of the model may have changed. What neither has touched is not looked at.
    """
    found = followed(path, before)
    if found is None:
        return True
    holds, changed = found
    return any(holds(fact) != after(fact) for fact in sorted({*changed, *touched}))


def _changes(case: Case[Any], before: Relations, frame: Frame, meant: Meant) -> Iterator[tuple[Fact, Question]]:
    for one in before.vocabulary():
        if one.of(before) is one.of(case.after):
            continue
        variables = [fol.Variable(f"x{place}", sort) for place, sort in enumerate(one.sorts)]
        said = one.of(case.after)(*variables)
        for things in product(*(frame.things[sort.name] for sort in one.sorts)):
            fact: Fact = (one.name, *things)
            text = _formula(said, frame, {**meant, **dict(zip(variables, things, strict=True))})
            if text != _asked(fact):
                yield fact, _question(text)


def _question(text: _Text) -> Question:
    found: Question = eval(f"lambda holds: {text}")
    return found


def _asked(fact: Fact) -> str:
    return f"holds({fact!r})"


def _formula(formula: fol.Formula, frame: Frame, meant: Meant) -> _Text:
    match formula:
        case fol.Constant(value):
            return value
        case fol.Related(name, arguments):
            fact: Fact = (name, *(_thing(one, frame, meant) for one in arguments))
            return frame.settled.get(fact, _asked(fact))
        case fol.Equal(left, right):
            return _thing(left, frame, meant) == _thing(right, frame, meant)
        case fol.Negation(of):
            text = _formula(of, frame, meant)
            return not text if isinstance(text, bool) else f"(not {text})"
        case fol.Conjunction(parts):
            return _joined(" and ", False, (_formula(one, frame, meant) for one in parts))
        case fol.Disjunction(parts):
            return _joined(" or ", True, (_formula(one, frame, meant) for one in parts))
        case fol.Universal(variable, body):
            return _joined(" and ", False, _each(variable, body, frame, meant))
        case fol.Existential(variable, body):
            return _joined(" or ", True, _each(variable, body, frame, meant))
        case _:
            raise AssertionError(f"{formula} is about numbers")


def _each(variable: fol.Variable, body: fol.Formula, frame: Frame, meant: Meant) -> Iterator[_Text]:
    return (_formula(body, frame, {**meant, variable: thing}) for thing in frame.things[variable.sort.name])


def _joined(word: str, decides: bool, parts: Iterator[_Text]) -> _Text:
    kept: dict[str, None] = {}
    for part in parts:
        if part is decides:
            return decides
        if not isinstance(part, bool):
            kept[part] = None
    if not kept:
        return not decides
    return next(iter(kept)) if len(kept) == 1 else f"({word.join(kept)})"


def _thing(term: fol.Term, frame: Frame, meant: Meant) -> Thing:
    match term:
        case fol.Variable():
            return meant[term]
        case fol.Applied(name, arguments):
            return frame.functions[name, *(_thing(one, frame, meant) for one in arguments)]
        case _:
            raise AssertionError(f"{term} is a number")
