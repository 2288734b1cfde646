"""Asking a solver for a small world in which some formulas are true.

Every quantifier is written out for a few named things, so the solver can always decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final

from farref.properties.proof.induction.theory import Theory, symbols
from farref.properties.proof.logic.bounded import written_out
from farref.properties.proof.logic.formulas import (
    NUMBER,
    Applied,
    Formula,
    Number,
    Related,
    Sort,
    Term,
    Variable,
    any_of,
    at_most,
    different,
    same,
)
from farref.properties.proof.logic.small import Fact, Small, Thing
from farref.properties.proof.solvers.solver import Answer, Session, Solver

THINGS_MAX: Final = 4
NUMBERS: Final = 5
"""Numbers in a small world go from 0 to this one. Beyond it no relation holds of anything."""


def possible(formulas: Iterable[Formula], theory: Theory[Any], solver: Solver) -> bool:
    """Say whether some formulas are true together in a world of three things of each sort."""
    return small_world(formulas, theory, solver, dict.fromkeys(_sorts(theory), 3)) is not None


def sizes_of(theory: Theory[Any]) -> Iterator[dict[Sort, int]]:
    """List how many things of each sort there may be, few first."""
    sorts = _sorts(theory)
    choices = sorted(product(range(1, THINGS_MAX + 1), repeat=len(sorts)), key=lambda sizes: (sum(sizes), sizes))
    return (dict(zip(sorts, sizes, strict=True)) for sizes in choices)


def _sorts(theory: Theory[Any]) -> list[Sort]:
    known = {
        sort: None for arguments, gives in symbols(theory).values() for sort in (*arguments, *filter(None, [gives]))
    }
    return [sort for sort in known if sort is not NUMBER]


def small_world(
    formulas: Iterable[Formula], theory: Theory[Any], solver: Solver, sizes: Mapping[Sort, int]
) -> Found | None:
    """Find a world of so many things in which some formulas are true, and what their parameters stand for in it."""
    return SmallWorlds((), theory, solver, sizes).find(formulas)


Found = tuple[Small, dict[Variable, Thing]]
"""A world, and what the parameters of the formulas stand for in it."""


class SmallWorlds:
    """Worlds of so many things in which some formulas are true. Several can be asked for, each with more formulas."""

    def __init__(
        self, formulas: Iterable[Formula], theory: Theory[Any], solver: Solver, sizes: Mapping[Sort, int]
    ) -> None:
        self.theory, self.session = theory, solver.session(symbols(theory))
        self.names: dict[str, list[Term]] = {
            sort.name: [Variable(f"{sort.letter}{number}", sort) for number in range(size)]
            for sort, size in sizes.items()
        }
        self.names[NUMBER.name] = [Number(number) for number in range(NUMBERS + 1)]
        self.session.suppose([*(written_out(one, self.names) for one in formulas), *_closed(theory, self.names)])

    def find(self, formulas: Iterable[Formula]) -> Found | None:
        """Find a world in which these formulas are true too."""
        written = [written_out(one, self.names) for one in formulas]
        parameters = [one for one in _free(written) if not any(one in known for known in self.names.values())]
        self.session.push()
        self.session.suppose([*written, *(_is_known(one, self.names) for one in parameters)])
        answer = self.session.satisfiable()
        found = _read(self.session, self.theory, self.names, parameters) if answer is Answer.YES else None
        self.session.pop()
        return found


def _closed(theory: Theory[Any], names: dict[str, list[Term]]) -> Iterator[Formula]:
    """Say that the named things are different and are all there are."""
    for sort, known in names.items():
        if sort != NUMBER.name:
            yield from (different(one, other) for one, other in combinations(known, 2))
    yield from (_is_known(value, names) for value in _values(theory, names))


def _is_known(term: Applied | Variable, names: dict[str, list[Term]]) -> Formula:
    if term.sort == NUMBER:
        return at_most(0, term) & at_most(term, NUMBERS - 1)
    return any_of(*(same(term, one) for one in names[term.sort.name]))


def _values(theory: Theory[Any], names: dict[str, list[Term]]) -> Iterator[Applied]:
    for name, (sorts, gives) in symbols(theory).items():
        if gives is not None:
            for arguments in product(*(names[sort.name] for sort in sorts)):
                yield Applied(name, arguments, gives)


def _atoms(theory: Theory[Any], names: dict[str, list[Term]]) -> Iterator[Related]:
    for name, (sorts, gives) in symbols(theory).items():
        if gives is None:
            for arguments in product(*(names[sort.name] for sort in sorts)):
                yield Related(name, arguments)


def _read(
    session: Session, theory: Theory[Any], names: dict[str, list[Term]], parameters: Sequence[Variable]
) -> tuple[Small, dict[Variable, Thing]]:
    """Read the world that a solver has found."""
    things = [one for sort, known in names.items() if sort != NUMBER.name for one in known]
    called: dict[Any, Thing] = dict(zip(session.values(things), map(_thing, things), strict=True))
    atoms, values = list(_atoms(theory, names)), list(_values(theory, names))
    facts = {_fact(one) for one, holds in zip(atoms, session.values(atoms), strict=True) if holds}
    given = zip(values, session.values(values), strict=True)
    functions = {(one.function, *map(_thing, one.arguments)): called.get(value, value) for one, value in given}
    meant = dict(zip(parameters, (called.get(one, one) for one in session.values(parameters)), strict=True))
    sorts = {sort: tuple(map(_thing, known)) for sort, known in names.items()}
    return Small(sorts, frozenset(facts), functions), meant


def _thing(term: Term) -> Thing:
    match term:
        case Variable(name):
            return name
        case Number(value):
            return value
        case _:
            raise AssertionError(f"{term} has no name")


def _fact(atom: Related) -> Fact:
    return (atom.relation, *map(_thing, atom.arguments))


def _free(formulas: Iterable[Formula]) -> list[Variable]:
    """List the variables of formulas without quantifiers."""
    found: dict[Variable, None] = {}
    todo: list[Any] = list(formulas)
    while todo:
        one = todo.pop()
        if isinstance(one, Variable):
            found[one] = None
        elif isinstance(one, tuple):
            todo += one
        elif hasattr(one, "__dataclass_fields__"):
            todo += [getattr(one, name) for name in one.__dataclass_fields__]
    return sorted(found, key=lambda variable: variable.name)
