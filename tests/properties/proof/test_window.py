"""R7's numbers, mark and window: proved for every size, and what is wrong is refuted."""

from __future__ import annotations

import pytest

from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.theory import Clause, Verdict
from farref.properties.proof.logic.formulas import NUMBER, at_most, implies, less, plus
from farref.properties.proof.needed import needed
from farref.properties.proof.subjects import SUBJECTS, WINDOW
from farref.properties.proof.window import CHANNEL, LOW, ONCE, N, State, Step
from tests.properties.proof.asking import SOLVER, is_refuted, with_clause, with_step

S = CHANNEL.state


def test_once_is_proved() -> None:
    found = prove(ONCE, SOLVER, WINDOW.sound)
    assert (found.failures, found.impossible) == ((), ())
    assert (found.verdict, len(ONCE.invariant), found.steps, found.queries) == (Verdict.PROVED, 9, 9, 90)


@pytest.mark.parametrize("rule", WINDOW.rules)
def test_every_rule_is_needed(rule: str) -> None:
    assert needed(SUBJECTS["window"], rule, SOLVER, lambda *_: None).is_shown


WRONG_CLAUSES = [
    Clause[State]("acks are in order", "-", "", (NUMBER,), lambda s, x: implies(s.answering(x), less(x, s.low()))),
    Clause[State]("one is enough", "-", "", (NUMBER,), lambda s, x: implies(s.remembered(x), at_most(x, s.mark()))),
    Clause[State]("the mark keeps up", "-", "", (), lambda s: at_most(s.low(), s.mark())),
]


@pytest.mark.parametrize("wrong", WRONG_CLAUSES, ids=lambda one: one.id)
def test_a_wrong_clause_is_refuted(wrong: Clause[State]) -> None:
    [failure] = with_clause(ONCE, wrong, WINDOW.sound).failures
    assert is_refuted(failure, ONCE)


WRONG_STEPS = [
    Step("the receiver forgets one number", S.remembered(N), S.at(N, remembered=False)),
    Step("the mark moves by itself", at_most(1, S.last()), S.but(mark=lambda: plus(S.mark(), 1))),
    Step("a copy lies about low", S.flying(N, LOW), S.at(N, plus(LOW, 1), flying=True)),
    Step("an Ack comes from nowhere", S.unanswered(N), S.at(N, answering=True)),
]


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=lambda one: one.name)
def test_a_wrong_step_is_refuted(wrong: Step) -> None:
    [failure] = with_step(ONCE, wrong, WINDOW.sound).failures
    assert is_refuted(failure, ONCE)
