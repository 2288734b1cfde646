"""A claim that is not proved, as two small states: one that the invariant allows, and the one after the step.

The solver is asked again about a few named things only, with every quantifier written out. That question can always be
decided. What it finds is made smaller, and believed only after the formulas were looked up in it without the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from farref.properties.proof.induction.prove import Failure
from farref.properties.proof.induction.theory import Theory
from farref.properties.proof.induction.worlds import sizes_of, small_world
from farref.properties.proof.logic.formulas import Formula, Variable
from farref.properties.proof.logic.small import Check, Fact, Follower, Small, Thing, compiled
from farref.properties.proof.solvers.solver import Solver


@dataclass(frozen=True)
class Counterexample:
    """A state before a step, where the step is taken, and the state after it."""

    before: Small
    at: dict[str, Thing]
    after: Small | None


def counterexample(failure: Failure, theory: Theory[Any], solver: Solver) -> Counterexample | None:
    """Find a small counterexample; None where there is none among a few things."""
    formulas = (*failure.hypotheses, failure.denied)
    for sizes in sizes_of(theory):
        found = small_world(formulas, theory, solver, sizes)
        if found is not None:
            return _told(*_smaller(formulas, *found), failure, theory)
    return None


# -- making it smaller, and looking it up --------------------------------------------------------------------------------


def _smaller(
    formulas: Sequence[Formula], world: Small, meant: dict[Variable, Thing]
) -> tuple[Small, dict[Variable, Thing]]:
    """Leave out what is true and does not matter."""
    checks = [compiled(one, tuple(meant)) for one in formulas]
    assert _holds(checks, world, meant), "the solver found a state in which its own hypotheses are false"
    before: frozenset[Fact] | None = None
    while before != world.facts:
        before = world.facts
        for fact in sorted(before, key=str):
            less = replace(world, facts=world.facts - {fact})
            world = less if _holds(checks, less, meant) else world
    return world, meant


def _holds(checks: Sequence[Check], world: Small, meant: dict[Variable, Thing]) -> bool:
    return all(check(world, *meant.values()) for check in reversed(checks))


def _told(world: Small, meant: dict[Variable, Thing], failure: Failure, theory: Theory[Any]) -> Counterexample:
    at = {variable.name: thing for variable, thing in meant.items()}
    if failure.case is None:
        return Counterexample(world, at, None)
    follow = Follower(theory.state, failure.case.after, tuple(meant))
    return Counterexample(world, at, follow(world, *meant.values()))
