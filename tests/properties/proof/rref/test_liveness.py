"""Everything is released in the end, for any number of everything; and each part of the argument is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.theory import Clause, Verdict, symbols
from farref.properties.proof.induction.worlds import small_world
from farref.properties.proof.logic.formulas import Number, Variable, less
from farref.properties.proof.needed import needed
from farref.properties.proof.rref import liveness
from farref.properties.proof.rref.liveness import CLEAN, LIVENESS, OF_FORKS, OF_RREFS, WEIGHTS, here, quiet
from farref.properties.proof.rref.point import POINT
from farref.properties.proof.rref.rules import SOUND
from farref.properties.proof.rref.safety import RREFS
from farref.properties.proof.rref.state import FORK, RREF, State
from farref.properties.proof.solvers.solver import Answer
from farref.properties.proof.subjects import SUBJECTS
from tests.properties.proof.asking import SOLVER, is_refuted

S = RREFS.state


def test_liveness_is_proved() -> None:
    found = prove(LIVENESS, SOLVER, SOUND)
    assert found.failures == ()
    assert (found.verdict, len(LIVENESS.invariant), found.steps, found.queries) == (Verdict.PROVED, 3, 76, 406)


@pytest.mark.parametrize("missing", LIVENESS.invariant, ids=lambda one: one.id)
def test_without_a_clause_a_quiet_state_need_not_be_clean(missing: Clause[State]) -> None:
    kept = tuple(one for one in LIVENESS.invariant if one is not missing)
    found = prove(replace(LIVENESS, invariant=kept), SOLVER, SOUND, only=lambda _, claim: claim in CLEAN)
    assert found.failures
    assert all(is_refuted(one, LIVENESS) for one in found.failures)


def test_without_parents_something_cannot_be_done() -> None:
    """A `ChildAccept` arrives at the parent; a child without one would leave it under way for ever."""
    known = tuple(one for one in LIVENESS.known if one.id != "J25")
    found = prove(replace(LIVENESS, known=known), SOLVER, SOUND, only=lambda _, it: it == "progress")
    assert {one.place for one in found.failures} == {"call_failed", "ChildAccept flies"}


def test_quiet_states_exist() -> None:
    """There are quiet states in which something has happened, so that quiet is clean says something."""
    f = Variable("f", FORK)
    found = small_world([quiet(S), S.minted(f), S.user_delete.processed(f)], RREFS, SOLVER, {FORK: 2, RREF: 1})
    assert found is not None


LOSES = {
    "call": "Call from user to user",
    "result": "Return from user to user",
    "call_failed": "CallFailed at the parent: the user stays",
    "remote_call": "RemoteCall",
    "remote_failed": "RemoteFailed",
    "pending": "UserAccept: the user stays",
    "confirmed": "LetGo: the user goes",
    "held": "LetGo: the user stays",
    "timed_out": "LetGo: the user stays",
    "asking": "AbandonFetch",
    "given_up": "FetchReturn: the user stays",
    "fetch_call": "FetchCall is parked",
}
"""For each weight a step that no longer makes the measure smaller without it."""


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_weight_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(liveness.OF_FORKS, name, lambda *_: Number(0))
    found = prove(LIVENESS, SOLVER, SOUND, only=lambda place, it: (place, it) == (LOSES[name], "measure"))
    [failure] = found.failures
    assert is_refuted(failure, LIVENESS)


def test_retries_are_needed_to_end() -> None:
    found = needed(SUBJECTS["rref"], "retries_until_answered", SOLVER, lambda *_: None)
    assert (found.theorem, found.lost, found.step) == ("liveness", "progress", "ForkRequest was lost")
    assert found.told is not None
    assert found.told.rows[0].after is None


def test_a_beginning_makes_the_measure_grow() -> None:
    """The steps that are left out of the measure are left out for a reason."""
    [share] = [case for case in RREFS.steps(S, SOUND) if case.name == "UserShare"]
    session = SOLVER.session(symbols(RREFS))
    grows = less(*(here(s, OF_FORKS, OF_RREFS, POINT.fork, POINT.other) for s in (S, share.after)))
    session.suppose([share.guard, grows])
    assert session.satisfiable() is Answer.YES


def test_what_is_lost_is_shown_without_a_step() -> None:
    rules = SUBJECTS["rref"].without("retries_until_answered")
    found = prove(LIVENESS, SOLVER, rules, only=lambda _, claim: claim == "progress", first_only=True)
    example = counterexample(found.failures[0], RREFS, SOLVER)
    assert example is not None
    assert example.after is None
