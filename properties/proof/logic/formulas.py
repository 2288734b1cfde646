"""Formulas and terms of first-order logic, with equality and whole numbers.

They are plain values. `solvers/` hands them to a solver, `small.py` looks them up in a small world, `bounded.py` writes
their quantifiers out. Formulas are put together with `&`, `|`, `~` and the functions below, which leave out what is true or
false anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, count
from typing import Final


@dataclass(frozen=True)
class Sort:
    """A kind of thing: forks, messages, numbers."""

    name: str
    letter: str
    """What such things are called in small worlds, with a number after it."""


NUMBER: Final = Sort("Number", "")


# -- terms -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """A thing with a name: bound by a quantifier, or a parameter of a step."""

    name: str
    sort: Sort


@dataclass(frozen=True)
class Applied:
    """A function of some things. Without arguments it is a thing that every state has, as the lowest open number."""

    function: str
    arguments: tuple[Term, ...]
    sort: Sort


@dataclass(frozen=True)
class Number:
    """A whole number."""

    value: int


@dataclass(frozen=True, eq=False)
class Sum:
    """Numbers, added."""

    parts: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """One of two numbers."""

    condition: Formula
    then: Term
    otherwise: Term


Term = Variable | Applied | Number | Sum | Choice


# -- formulas ----------------------------------------------------------------------------------------------------------


class Formula:
    """Something that is true or false in a state."""

    def __and__(self, other: Formula) -> Formula:
        return all_of(self, other)

    def __or__(self, other: Formula) -> Formula:
        return any_of(self, other)

    def __invert__(self) -> Formula:
        return negation(self)


@dataclass(frozen=True, eq=False)
class Constant(Formula):
    """True, or false."""

    value: bool


@dataclass(frozen=True, eq=False)
class Related(Formula):
    """A relation holds of some things."""

    relation: str
    arguments: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Equal(Formula):
    """Two terms are the same."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class AtMost(Formula):
    """A number is at most another one."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Negation(Formula):
    """A formula is false."""

    of: Formula


@dataclass(frozen=True, eq=False)
class Conjunction(Formula):
    """All parts are true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Disjunction(Formula):
    """Some part is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Universal(Formula):
    """It is true of everything of a sort."""

    variable: Variable
    body: Formula


@dataclass(frozen=True, eq=False)
class Existential(Formula):
    """It is true of something of a sort."""

    variable: Variable
    body: Formula


TRUE: Final = Constant(True)
FALSE: Final = Constant(False)


# -- putting formulas together -----------------------------------------------------------------------------------------


def truth(value: bool | Formula) -> Formula:
    """Make a formula of a Python truth value."""
    if isinstance(value, Formula):
        return value
    return TRUE if value else FALSE


def negation(formula: Formula) -> Formula:
    """Say the opposite."""
    match formula:
        case Constant(value):
            return truth(not value)
        case Negation(of):
            return of
        case _:
            return Negation(formula)


def all_of(*parts: Formula) -> Formula:
    """Say all of it."""
    if any(part is FALSE for part in parts):
        return FALSE
    kept = tuple(part for part in parts if part is not TRUE)
    if not kept:
        return TRUE
    return kept[0] if len(kept) == 1 else Conjunction(kept)


def any_of(*parts: Formula) -> Formula:
    """Say that one of them is true, or more."""
    if any(part is TRUE for part in parts):
        return TRUE
    kept = tuple(part for part in parts if part is not FALSE)
    if not kept:
        return FALSE
    return kept[0] if len(kept) == 1 else Disjunction(kept)


def none_of(*parts: Formula) -> Formula:
    """Say that none of them is true."""
    return ~any_of(*parts)


def at_most_one(*parts: Formula) -> Formula:
    """Say that no two of them are true."""
    return all_of(*(~(one & other) for one, other in combinations(parts, 2)))


def implies(condition: Formula, consequence: Formula) -> Formula:
    """Say that one leads to the other."""
    return ~condition | consequence


def iff(one: Formula, other: Formula) -> Formula:
    """Say that both are true, or neither."""
    return implies(one, other) & implies(other, one)


def either(condition: Formula, then: Formula, otherwise: Formula) -> Formula:
    """Say one thing where a condition is true, and another where it is not."""
    if then is otherwise:
        return then
    return (condition & then) | (~condition & otherwise)


def same(one: Term, other: Term) -> Formula:
    """Say that two terms are the same thing."""
    return TRUE if one is other or (isinstance(one, Variable) and one == other) else Equal(one, other)


def different(one: Term, other: Term) -> Formula:
    """Say that two terms are not the same thing."""
    return ~same(one, other)


_fresh = count()


def every(sort: Sort, body: Callable[[Variable], Formula]) -> Formula:
    """Say something of everything of a sort."""
    variable = Variable(f"{sort.name.lower()}_{next(_fresh)}", sort)
    said = body(variable)
    return said if isinstance(said, Constant) else Universal(variable, said)


def some(sort: Sort, body: Callable[[Variable], Formula]) -> Formula:
    """Say something of something of a sort."""
    variable = Variable(f"{sort.name.lower()}_{next(_fresh)}", sort)
    said = body(variable)
    return said if isinstance(said, Constant) else Existential(variable, said)


# -- numbers -----------------------------------------------------------------------------------------------------------


def plus(*parts: Term | int) -> Term:
    """Add numbers."""
    return Sum(tuple(Number(part) if isinstance(part, int) else part for part in parts))


def worth(condition: Formula, number: int) -> Term:
    """Give a number where a condition is true, and zero where it is not."""
    if isinstance(condition, Constant):
        return Number(number if condition.value else 0)
    return Choice(condition, Number(number), Number(0))


def at_most(left: Term | int, right: Term | int) -> Formula:
    """Say that a number is not larger than another one."""
    return AtMost(*(Number(one) if isinstance(one, int) else one for one in (left, right)))


def less(left: Term | int, right: Term | int) -> Formula:
    """Say that a number is smaller than another one."""
    return ~at_most(right, left)
