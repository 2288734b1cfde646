"""The questions that a proof by induction comes to. A theorem is proved when each of them is answered with no.

Each question asks for a counterexample: can the hypotheses be true, and the claim false? There is one for each clause at the
start, one for each way of each step and each clause after it, and one for each consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from farref.properties.proof.induction.theory import Case, Theorem
from farref.properties.proof.logic.formulas import FALSE, Formula

INITIALLY: Final = "at the start"
FOLLOWS: Final = "the invariant implies"


@dataclass(frozen=True)
class Group:
    """Questions with the same hypotheses: where they come up, and what is claimed there.

    Claims are made when they are asked about; most of the work is in making them.
    """

    place: str
    hypotheses: tuple[Formula, ...]
    claims: tuple[tuple[str, Callable[[], Formula]], ...]
    case: Case[Any] | None = None
    """The step, if it is about one."""


def groups(theorem: Theorem, rules: Mapping[str, bool]) -> Iterator[Group]:
    """List the questions of a theorem."""
    theory, before = theorem.theory, invariant(theorem)
    start = (*theory.axioms, theory.initial(theory.state))
    yield Group(INITIALLY, start, _claims(theorem.invariant, theory.state))
    for case in cases(theorem, rules):
        given = (*before, case.guard, *case.finite)
        yield Group(case.name, given, _claims(theorem.invariant, case.after), case)
    if theorem.goals:
        yield Group(FOLLOWS, (*before, *theorem.finite), _claims(theorem.goals, theory.state))
    for lemma in theorem.lemmas(rules):
        yield Group(lemma.part, (*before, *lemma.given), ((lemma.id, lambda claim=lemma.claim: claim),))  # type: ignore[misc]


def cases(theorem: Theorem, rules: Mapping[str, bool]) -> Iterator[Case[Any]]:
    """List the ways in which steps can go. Under other rules some can no longer happen at all."""
    return (case for case in theorem.theory.steps(theorem.theory.state, rules) if case.guard is not FALSE)


def invariant(theorem: Theorem) -> tuple[Formula, ...]:
    """Give everything that may be assumed of the state before a step."""
    theory = theorem.theory
    clauses = (*theorem.known, *theorem.invariant)
    return (*theory.axioms, *(clause.holds(theory.state) for clause in clauses))


def _claims(clauses: Any, state: Any) -> tuple[tuple[str, Callable[[], Formula]], ...]:
    return tuple((clause.id, lambda clause=clause: clause.holds(state)) for clause in clauses)
