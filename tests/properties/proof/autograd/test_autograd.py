"""Passes and contexts: both theorems are proved, and what is wrong is refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farref.model.autograd.rules import RULES as MODEL_RULES
from farref.properties.proof.autograd import passes, release
from farref.properties.proof.autograd.passes_invariant import COMMIT, PASSES
from farref.properties.proof.autograd.release_invariant import CONTEXT, FORGET
from farref.properties.proof.autograd.rules import RULES, SILENT
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.theory import Case, Theorem, Verdict
from farref.properties.proof.needed import needed
from farref.properties.proof.solvers import z3_solver
from farref.properties.proof.subjects import AUTOGRAD
from tests.properties.proof.asking import SOLVER, is_refuted, with_step

P, R = PASSES.state, CONTEXT.state
M, W, OF = passes.M, passes.W, passes.P
C, WHO = release.C, release.W


@pytest.mark.parametrize(
    ("theorem", "counts"), [(COMMIT, (11, 10, 126)), (FORGET, (12, 12, 158))], ids=["passes", "release"]
)
def test_theorems_are_proved(theorem: Theorem, counts: tuple[int, ...]) -> None:
    found = prove(theorem, SOLVER, AUTOGRAD.sound)
    assert (found.failures, found.impossible, found.verdict) == ((), (), Verdict.PROVED)
    assert (len(theorem.invariant), found.steps, found.queries) == counts


def test_the_rules_are_those_of_the_model() -> None:
    assert RULES == MODEL_RULES
    assert set(SILENT) <= set(RULES)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in SILENT])
def test_every_rule_that_is_spoken_of_is_needed(rule: str) -> None:
    found = needed(AUTOGRAD, rule, SOLVER, lambda *_: None)
    assert found.verdict == "refuted"
    assert found.told is not None


WRONG_STEPS: list[tuple[Theorem, Case[Any]]] = [
    (COMMIT, passes.Step("a message is lost", P.flying(M), P.at(M, flying=False))),
    (COMMIT, passes.Step("a message arrives twice", P.processed(M), P.at(M, flying=True))),
    (COMMIT, passes.Step("a report is entered late", P.reported(M), P.at(M, reported=False))),
    (COMMIT, passes.Step("a worker shows too early", P.staged(W, OF), P.at(W, OF, staged=False, shown=True))),
    (COMMIT, passes.Step("a worker forgets its gradients", P.staged(W, OF), P.at(W, OF, staged=False))),
    (COMMIT, passes.Step("a committed pass runs again", P.committed(OF), P.at(OF, running=True))),
    (FORGET, release.Step("a worker forgets too early", R.closed(WHO), R.at(WHO, closed=False, forgotten=True))),
    (FORGET, release.Step("a call comes back", R.accounted(C), R.at(C, flying=True))),
    (FORGET, release.Step("a closed context sends", R.closed(release.source(C)) & ~R.sent(C), R.at(C, sent=True))),
    (FORGET, release.Step("a Closed comes from nowhere", R.open(WHO), R.at(WHO, reporting=True))),
]  # fmt: skip


@pytest.mark.parametrize(("theorem", "wrong"), WRONG_STEPS, ids=[one.name for _, one in WRONG_STEPS])
def test_a_wrong_step_is_refuted(theorem: Theorem, wrong: Case[Any]) -> None:
    [failure] = with_step(theorem, wrong, AUTOGRAD.sound).failures
    assert is_refuted(failure, theorem)


@pytest.mark.parametrize("theorem", AUTOGRAD.theorems, ids=lambda one: one.id)
def test_the_end_needs_a_first_element(theorem: Theorem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are termination detection: without the fact that messages are finitely many, nothing is proved."""
    monkeypatch.setattr(z3_solver, "MILLISECONDS_MAX", 1000)  # only an infinite state would refute it
    [end] = [case for case in cases(theorem, AUTOGRAD.sound) if case.finite]
    assert with_step(theorem, replace(end, finite=()), AUTOGRAD.sound).failures
