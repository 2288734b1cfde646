"""RRefs are safe for any number of everything; without any rule they are not; and the prover notices what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from farref.model.rref.rules import OF_LINKS
from farref.model.rref.rules import RULES as MODEL_RULES
from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.questions import cases, invariant
from farref.properties.proof.induction.theory import Clause, Verdict, symbols
from farref.properties.proof.logic.formulas import Formula, Term, all_of, at_most_one, every, implies, same
from farref.properties.proof.needed import needed
from farref.properties.proof.rref.effects import dropped
from farref.properties.proof.rref.point import POINT, Step
from farref.properties.proof.rref.rules import RULES, SOUND
from farref.properties.proof.rref.safety import RREFS, SAFETY
from farref.properties.proof.rref.state import FORK, RREF, State, for_owner, rref_of
from farref.properties.proof.solvers.solver import Answer
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.proof.views.rules import RULES as VIEW_RULES
from tests.properties.proof.asking import SOLVER, is_refuted, with_clause, with_step

S, F, G, R = RREFS.state, POINT.fork, POINT.other, POINT.rref


def test_safety_is_proved() -> None:
    found = prove(SAFETY, SOLVER, SOUND)
    assert found.failures == ()
    assert (found.verdict, len(SAFETY.invariant), found.steps, found.queries) == (Verdict.PROVED, 25, 76, 1947)


def test_the_rules_are_those_of_the_model() -> None:
    assert (*RULES, *VIEW_RULES, *OF_LINKS) == MODEL_RULES  # to a proof a broken link is a delay like any other


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_needed(rule: str) -> None:
    found = needed(SUBJECTS["rref"], rule, SOLVER, lambda *_: None)
    assert found.is_shown
    assert bool(found.why) != (found.told is not None)


def test_steps_that_cannot_happen_are_those_that_the_spec_says_do_not() -> None:
    """Each is there for other rules only (R23, R26)."""
    session = SOLVER.session(symbols(RREFS))
    session.suppose(invariant(SAFETY))
    dead: set[str] = set()
    for case in cases(SAFETY, SOUND):
        session.push()
        session.suppose([case.guard, *case.finite])
        dead |= {case.name} if session.satisfiable() is Answer.NO else set()
        session.pop()
    assert dead == {
        "FinishFunction of an entry that went",
        "UserDelete of a fork that is not counted",
        "Ack(ForkRequest) of a fork that is not pending",
        "Ack(CreateFailed) of a fork that is not pending",
    }


# -- the prover can fail -----------------------------------------------------------------------------------------------


def of_forks(name: str, body: object) -> Clause[State]:
    return Clause(name, "-", "", (FORK,), body)  # type: ignore[arg-type]


def of_rrefs(name: str, body: object) -> Clause[State]:
    return Clause(name, "-", "", (RREF,), body)  # type: ignore[arg-type]


def no_grandparents(s: State, f: Term) -> Formula:
    return every(FORK, lambda g: implies(s.parent(f, g), ~s.has_parent(g)))


WRONG_CLAUSES = [
    of_forks("what lives is counted", lambda s, f: implies(s.live(f), s.counted(f))),
    of_forks("what is counted lives", lambda s, f: implies(s.counted(f), s.live(f))),
    of_forks("what travels is counted", lambda s, f: implies(s.travels(f), s.counted(f))),
    of_forks("a parent is confirmed", lambda s, f: every(FORK, lambda g: implies(s.parent(f, g), s.confirmed(g)))),
    of_forks("a parent lives", lambda s, f: every(FORK, lambda g: implies(s.parent(f, g), s.live(g)))),
    of_forks("there are no grandparents", no_grandparents),
    of_forks("a creator is counted", lambda s, f: implies(s.remote(f), s.counted(f))),
    of_forks("a message flies once", lambda s, f: ~(s.user_delete.flying(f) & s.user_delete.processed(f))),
    of_forks("an answer is waited for", lambda s, f: implies(s.user_delete.answering(f), s.user_delete.unanswered(f))),
    of_forks("a pending user is held", lambda s, f: implies(s.pending(f), s.handle(f))),
    of_forks("nothing fails", lambda s, f: ~s.call_failed(f)),
    of_forks("a fetch is wanted", lambda s, f: implies(s.fetch_call(f), s.asking(f))),
    of_forks("one delivery at a time", lambda s, f: at_most_one(s.fork_request.flying(f), s.fork_request.answering(f))),
    of_rrefs("what is ready is held", lambda s, r: implies(s.ready(r), s.owner_holds(r))),
    of_rrefs("what is begun is listed", lambda s, r: implies(s.begun(r), s.listed(r) | s.gone(r))),
    of_rrefs("what is created has no waiter", lambda s, r: ~(s.created(r) & s.owner_waits(r))),
]


@pytest.mark.parametrize("wrong", WRONG_CLAUSES, ids=lambda one: one.id)
def test_a_wrong_clause_is_refuted(wrong: Clause[State]) -> None:
    [failure] = with_clause(SAFETY, wrong, SOUND).failures
    assert is_refuted(failure, SAFETY)
    assert counterexample(failure, RREFS, SOLVER) is not None


MINE = same(rref_of(F), R)
WRONG_STEPS = [
    Step("an entry is made twice", S.remote_call(F) & MINE, S.at(R, created=True, running=True)),
    Step("a value comes from nowhere", S.expected(R), S.at(R, expected=False, ready=True)),
    Step("a ready entry goes while it is held", S.ready(R) & S.owner_holds(R), dropped(S, R)),
    Step("an entry goes while a fork is counted", all_of(S.ready(R), ~S.used(R), MINE, S.counted(F)), dropped(S, R)),
    Step("a count is lost", S.confirmed(F), S.at(F, counted=False)),
    Step("a user is counted although nobody asked", S.pending(F), S.at(F, counted=True)),
    Step("a user confirms itself", S.pending(F), S.at(F, pending=False, confirmed=True)),
    Step("a user is forgotten", S.confirmed(F), S.at(F, confirmed=False)),
    Step("a parent forgets a child", S.kept(F), S.at(F, kept=False)),
    Step("a parent lists a child again", S.has_parent(F) & S.confirmed(F), S.at(F, kept=True)),
    Step("an Ack comes from nowhere", S.fork_request.unanswered(F), S.with_control("fork_request", F, answering=True)),
    Step("a user call is lost", S.call(F), S.at(F, call=False)),
    Step("a user call is copied", S.call(F) & ~for_owner(F), S.at(F, result=True)),
    Step("a fork is minted twice", S.held(G) & S.minted(F), S.at(F, call=True, has_parent=True)),
    Step("a delete is sent by a user that stays", S.confirmed(F), S.send("user_delete", F)),
    Step("a fetch is answered without a value", S.fetch_parked(F), S.at(F, fetch_parked=False, fetch_return=True)),
]


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=lambda one: one.name)
def test_a_wrong_step_is_refuted(wrong: Step) -> None:
    [failure] = with_step(SAFETY, wrong, SOUND).failures
    assert is_refuted(failure, SAFETY)
    found = counterexample(failure, RREFS, SOLVER)
    assert found is not None
    assert found.after is not None
    assert found.before.facts != found.after.facts


def test_an_invariant_that_allows_nothing_is_not_a_proof() -> None:
    lonely = Clause[State]("lonely", "-", "", (FORK, FORK), lambda s, f, g: implies(s.live(f) & s.live(g), same(f, g)))
    found = prove(
        replace(SAFETY, invariant=(*SAFETY.invariant, lonely)), SOLVER, SOUND, only=lambda _, claim: claim == "J3"
    )
    assert "two forks live at once" in found.impossible
    assert found.verdict is Verdict.UNKNOWN


def test_a_step_that_drops_an_entry_needs_a_first_element() -> None:
    """R33 goes up the tree of forks. Without the fact that the tree is finite, nothing is proved."""
    drops = [case for case in cases(SAFETY, SOUND) if case.finite]
    assert {case.name.partition(":")[0] for case in drops} == {
        "FinishFunction", "OwnerLetGo", "CallFailed at the owner", "UserDelete"
    }  # fmt: skip
    for case in drops:
        assert with_step(SAFETY, replace(case, finite=()), SOUND).failures, case.name


def test_clauses_are_sentences() -> None:
    for one in (*SAFETY.invariant, *SAFETY.goals):
        assert one.text.endswith("."), one.id
        assert one.text[0].isupper(), one.id
