"""Short ways to put questions to a solver."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from farref.properties.proof.induction.prove import Failure, Outcome, prove
from farref.properties.proof.induction.theory import Case, Clause, Theorem, Verdict
from farref.properties.proof.needed import judged
from farref.properties.proof.solvers.z3_solver import Z3

SOLVER: Final = Z3()


def with_clause(theorem: Theorem, wrong: Clause[Any], rules: Mapping[str, bool]) -> Outcome:
    """Ask whether a clause would be kept if it were one of the invariant."""
    asked = replace(theorem, invariant=(*theorem.invariant, wrong), situations=())
    return prove(asked, SOLVER, rules, only=lambda _, claim: claim == wrong.id, first_only=True)


def with_step(theorem: Theorem, wrong: Case[Any], rules: Mapping[str, bool]) -> Outcome:
    """Ask whether a step would keep the invariant."""

    def steps(*_: object) -> Iterable[Case[Any]]:
        return [wrong]

    asked = replace(theorem, theory=replace(theorem.theory, steps=steps), situations=())
    return prove(asked, SOLVER, rules, only=lambda place, _: place == wrong.name, first_only=True)


def is_refuted(failure: Failure, theorem: Theorem) -> bool:
    """Say whether a small state shows that a claim is false, whatever the solver said of all states."""
    return judged(failure, theorem, SOLVER)[0] is Verdict.REFUTED
