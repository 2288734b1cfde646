"""What goes out in a pass, and when: the prover notices what is wrong, and needs what it is given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farref.properties.proof.autograd.exits import ENTRY, EXIT, E, State, Step, W, X, flow, leaf, reached, to
from farref.properties.proof.autograd.exits_invariant import EXITS, SUMS
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.theory import Clause, Verdict
from farref.properties.proof.logic.formulas import implies, same
from farref.properties.proof.solvers import z3_solver
from farref.properties.proof.subjects import AUTOGRAD
from tests.properties.proof.asking import SOLVER, is_refuted, with_clause, with_step

S = EXITS.state

WRONG_CLAUSES = [
    Clause[State](
        "what is reached has come", "-", "", (ENTRY,), lambda s, e: implies(s.running() & reached(e), s.came(e))
    ),
    Clause[State]("what is marked has not come", "-", "", (ENTRY,), lambda s, e: ~(s.marked(e) & s.came(e))),
    Clause[State](
        "a leaf waits for the commit", "-", "", (EXIT,), lambda s, x: implies(s.fired(x) & leaf(x), s.committed())
    ),
    Clause[State]("nothing is given up", "-", "", (ENTRY,), lambda s, e: ~s.given_up(e)),
]


@pytest.mark.parametrize("wrong", WRONG_CLAUSES, ids=lambda one: one.id)
def test_a_wrong_clause_is_refuted(wrong: Clause[State]) -> None:
    [failure] = with_clause(SUMS, wrong, AUTOGRAD.sound).failures
    assert is_refuted(failure, SUMS)


WRONG_STEPS = [
    Step("an exit goes out early", S.some_came(X) & ~leaf(X), S.at(X, fired=True, flying=True)),
    Step("a gradient is lost", S.flying(X), S.at(X, flying=False)),
    Step("a gradient comes from nowhere", S.running(), S.at(E, came=True)),
    Step("a worker gives up what is marked", S.resumed() & S.marked(E), S.at(E, given_up=True)),
    Step("a mark is not passed on", S.mark_flying(X) & same(to(X), E), S.at(X, mark_flying=False).at(E, marked=True)),
    Step("a worker says it has sought", S.marking(), S.at(W, sought=True)),
]


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=lambda one: one.name)
def test_a_wrong_step_is_refuted(wrong: Step) -> None:
    [failure] = with_step(SUMS, wrong, AUTOGRAD.sound).failures
    assert is_refuted(failure, SUMS)


def test_an_invariant_that_allows_nothing_is_not_a_proof() -> None:
    simple = Clause[State]("simple", "-", "", (ENTRY, EXIT), lambda _, e, x: implies(flow(e, x), reached(e)))
    wanted = replace(SUMS, invariant=(*SUMS.invariant, simple, WRONG_CLAUSES[3]))
    found = prove(wanted, SOLVER, AUTOGRAD.sound, only=lambda *_: False)
    assert found.impossible
    assert found.verdict is Verdict.UNKNOWN


def test_a_standstill_needs_a_first_element(monkeypatch: pytest.MonkeyPatch) -> None:
    """The argument goes along the paths of the graph. Without the fact that they have a beginning, nothing is proved."""
    monkeypatch.setattr(
        z3_solver, "MILLISECONDS_MAX", 1000
    )  # only a graph with a cycle, or an infinite one, would refute it
    needy = [case for case in cases(SUMS, AUTOGRAD.sound) if case.finite]
    assert len(needy) == 3
    for case in needy:
        assert with_step(SUMS, replace(case, finite=()), AUTOGRAD.sound).failures, case.name
