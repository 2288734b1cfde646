"""The questions that a proof by induction comes to. A theorem is proved when each of them is answered with no.

Each question asks for a counterexample: can the hypotheses be true, and the claim false? There is one for each clause at the
start, one for each way of each step and each clause after it, and one for each consequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from farref.properties.proof.induction.theory import Case, Clause, Theorem
from farref.properties.proof.logic.formulas import FALSE, Formula

INITIALLY: Final = "at the start"
FOLLOWS: Final = "the invariant implies"


@dataclass(frozen=True)
class Claim:
    """What must be true: its name, the sentence, and how to make the formula. Most of the work is in making it."""

    id: str
    text: str
    make: Callable[[], Formula]


@dataclass(frozen=True)
class Group:
    """Questions with the same hypotheses: where they come up, and what is claimed there."""

    place: str
    hypotheses: tuple[Formula, ...]
    claims: tuple[Claim, ...]
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
        claim = Claim(lemma.id, lemma.text, partial(_given, lemma.claim))
        yield Group(lemma.part, (*before, *lemma.given), (claim,), lemma.case)


def cases(theorem: Theorem, rules: Mapping[str, bool]) -> Iterator[Case[Any]]:
    """List the ways in which steps can go. Under other rules some can no longer happen at all."""
    return (case for case in theorem.theory.steps(theorem.theory.state, rules) if case.guard is not FALSE)


def invariant(theorem: Theorem) -> tuple[Formula, ...]:
    """Give everything that may be assumed of the state before a step."""
    theory = theorem.theory
    clauses = (*theorem.known, *theorem.invariant)
    return (*theory.axioms, *(clause.holds(theory.state) for clause in clauses))


def _claims(clauses: Iterable[Clause[Any]], state: Any) -> tuple[Claim, ...]:
    return tuple(Claim(one.id, one.text, partial(one.holds, state)) for one in clauses)


def _given(claim: Formula) -> Formula:
    return claim
