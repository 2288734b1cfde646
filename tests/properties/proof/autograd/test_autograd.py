"""Passes and contexts: the theorems are proved, and what is wrong is refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farref.model.autograd.rules import OF_MEMBERS
from farref.model.autograd.rules import RULES as MODEL_RULES
from farref.properties.proof.autograd import passes, release
from farref.properties.proof.autograd.ending import ENDING, WEIGHTS
from farref.properties.proof.autograd.exits_invariant import SUMS
from farref.properties.proof.autograd.passes_invariant import COMMIT, PASSES
from farref.properties.proof.autograd.release_invariant import CONTEXT, FORGET
from farref.properties.proof.autograd.rules import RULES, SILENT
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.theory import Case, Clause, Theorem, Verdict
from farref.properties.proof.logic.formulas import implies
from farref.properties.proof.needed import needed
from farref.properties.proof.solvers import z3_solver
from farref.properties.proof.subjects import AUTOGRAD
from tests.properties.proof.asking import SOLVER, is_refuted, with_clause, with_step

P, R = PASSES.state, CONTEXT.state
M, W, OF = passes.M, passes.W, passes.P
C, WHO = release.C, release.W


@pytest.mark.parametrize(
    ("theorem", "counts"),
    [(COMMIT, (19, 19, 385)), (ENDING, (0, 18, 40)), (SUMS, (12, 9, 123)), (FORGET, (12, 12, 158))],
    ids=["passes", "ending", "exits", "release"],
)
def test_theorems_are_proved(theorem: Theorem, counts: tuple[int, ...]) -> None:
    found = prove(theorem, SOLVER, AUTOGRAD.sound)
    assert (found.failures, found.impossible, found.verdict) == ((), (), Verdict.PROVED)
    assert (len(theorem.invariant), found.steps, found.queries) == counts


def test_the_rules_are_those_of_the_model() -> None:
    assert (*RULES, *OF_MEMBERS) == MODEL_RULES  # those of members are not proved
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
    (COMMIT, passes.Step("a worker comes back", P.left(W, OF), P.at(W, OF, takes_part=True, left=False))),
    (COMMIT, passes.Step("a root forgets whom it knows", P.engaged(W, OF), P.at(W, OF, engaged=False))),
    (COMMIT, passes.Step("a fault is not reported", P.reported(M) & P.refused(M), P.at(M, reported=False))),
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


def of_messages(name: str, body: object) -> Clause[Any]:
    return Clause(name, "-", "", (passes.MESSAGE,), body)  # type: ignore[arg-type]


def of_workers(name: str, body: object) -> Clause[Any]:
    return Clause(name, "-", "", (passes.WORKER, passes.PASS), body)  # type: ignore[arg-type]


def of_calls(name: str, body: object) -> Clause[Any]:
    return Clause(name, "-", "", (release.CALL,), body)  # type: ignore[arg-type]


WRONG_CLAUSES: list[tuple[Theorem, Clause[Any]]] = [
    (COMMIT, of_messages("what is sent is known", lambda s, m: implies(s.sent(m), s.known(m)))),
    (COMMIT, of_messages("what is processed is entered", lambda s, m: implies(s.processed(m), s.entered(m)))),
    (COMMIT, of_messages("nothing is refused", lambda s, m: ~s.refused(m))),
    (COMMIT, of_messages("what failed is not under way", lambda s, m: ~(s.failed(passes.pass_of(m)) & s.flying(m)))),
    (COMMIT, of_messages("nothing flies twice", lambda s, m: ~(s.copied(m) & s.processed(m)))),
    (COMMIT, of_workers("whoever takes part is known", lambda s, w, p: implies(s.takes_part(w, p), s.engaged(w, p)))),
    (COMMIT, of_workers("whoever is known takes part", lambda s, w, p: implies(s.engaged(w, p), s.takes_part(w, p)))),
    (COMMIT, of_workers("a failed pass is left", lambda s, w, p: ~(s.failed(p) & s.takes_part(w, p)))),
    (COMMIT, of_workers("what is shown has returned", lambda s, w, p: implies(s.shown(w, p), s.returned(p)))),
    (FORGET, of_calls("what is sent has arrived", lambda s, c: implies(s.sent(c) & ~s.flying(c), s.arrived(c)))),
    (FORGET, of_calls("what is owed is accounted for", lambda s, c: implies(s.owed(c), s.accounted(c)))),
    (FORGET, of_calls("what is owed is not under way", lambda s, c: ~(s.owed(c) & s.flying(c)))),
]  # fmt: skip


@pytest.mark.parametrize(("theorem", "wrong"), WRONG_CLAUSES, ids=[one.id for _, one in WRONG_CLAUSES])
def test_a_wrong_clause_is_refuted(theorem: Theorem, wrong: Clause[Any]) -> None:
    [failure] = with_clause(theorem, wrong, AUTOGRAD.sound).failures
    assert is_refuted(failure, theorem)


@pytest.mark.parametrize(("theorem", "name"), [(COMMIT, "processed"), (FORGET, "flying")], ids=["passes", "release"])
def test_an_invariant_that_allows_nothing_is_not_a_proof(theorem: Theorem, name: str) -> None:
    sort = passes.MESSAGE if theorem is COMMIT else release.CALL
    empty = Clause[Any]("empty", "-", "", (sort,), lambda s, one: ~getattr(s, name)(one))
    found = prove(
        replace(theorem, invariant=(*theorem.invariant, empty)), SOLVER, AUTOGRAD.sound, only=lambda *_: False
    )
    assert found.impossible
    assert found.verdict is Verdict.UNKNOWN


# -- why passes end ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WEIGHTS, name, 0)
    lost = prove(ENDING, SOLVER, AUTOGRAD.sound, only=lambda _, claim: claim.startswith("measure")).failures
    assert lost
    assert is_refuted(lost[0], ENDING)


@pytest.mark.parametrize(
    ("clause", "claim"), [("B12", "L3"), ("B13", "L3"), ("B14", "L1"), ("B17", "L1"), ("B8", "L1")]
)
def test_without_a_clause_a_quiet_state_need_not_be_clean(clause: str, claim: str) -> None:
    known = tuple(one for one in ENDING.known if one.id != clause)
    [failure] = prove(replace(ENDING, known=known), SOLVER, AUTOGRAD.sound, only=lambda _, it: it == claim).failures
    assert is_refuted(failure, ENDING)


@pytest.mark.parametrize("theorem", [COMMIT, FORGET], ids=lambda one: one.id)
def test_the_end_needs_a_first_element(theorem: Theorem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are termination detection: without the fact that messages are finitely many, nothing is proved."""
    monkeypatch.setattr(z3_solver, "MILLISECONDS_MAX", 1000)  # only an infinite state would refute it
    [end] = [case for case in cases(theorem, AUTOGRAD.sound) if case.finite]
    assert with_step(theorem, replace(end, finite=()), AUTOGRAD.sound).failures
