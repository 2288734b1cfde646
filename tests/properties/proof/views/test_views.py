"""Reclaiming is safe under any exclusion, quiet is clean, each of the seven rules is needed, and the prover can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from farref.clauses import clauses
from farref.properties.proof.induction.counterexample import counterexample
from farref.properties.proof.induction.prove import prove
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.theory import Clause, Verdict
from farref.properties.proof.induction.worlds import small_world
from farref.properties.proof.logic.formulas import Formula, Sort, Term, all_of, every, implies, same
from farref.properties.proof.needed import needed
from farref.properties.proof.rref.effects import dropped
from farref.properties.proof.rref.state import FORK, RREF, rref_of
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.proof.views.invariant import CHANGED
from farref.properties.proof.views.point import POINT, Step
from farref.properties.proof.views.quiet import CLEAN, QUIET, quiet
from farref.properties.proof.views.rules import RULES, SOUND
from farref.properties.proof.views.safety import RECLAIMING, VIEWS
from farref.properties.proof.views.state import VIEW, WORKER, State, excluded_in, holder, minter
from tests.markdown import rows
from tests.properties.proof.asking import SOLVER, is_refuted, with_clause, with_step

S, F, G, R, W, V = VIEWS.state, POINT.fork, POINT.other, POINT.rref, POINT.worker, POINT.view
D = replace(W, name="d")


def test_reclaiming_is_proved() -> None:
    found = prove(RECLAIMING, SOLVER, SOUND)
    assert found.failures == ()
    assert (found.verdict, len(RECLAIMING.invariant), found.steps, found.queries) == (Verdict.PROVED, 33, 93, 3109)


def test_quiet_is_clean() -> None:
    found = prove(QUIET, SOLVER, SOUND)
    assert found.failures == ()
    assert (found.verdict, len(QUIET.invariant), found.steps, found.queries) == (Verdict.PROVED, 6, 93, 567)


LOST = {
    "refuses_the_excluded": ("Y14", "CreateRemote"),
    "fails_creation_of_the_excluded": ("Y14", "Install"),
    "settles_what_came_from_the_excluded": ("V2", "Settle"),
    "everybody_settles": ("V3", "Bury"),
    "same_view": ("V3", "Bury"),
    "waits_until_settled": ("V3", "Bury"),
    "children_wait_too": ("Y9", "Forget a child: the user goes"),
}
"""For each rule the clause that is lost first without it, and the step that loses it."""


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_needed(rule: str) -> None:
    found = needed(SUBJECTS["views"], rule, SOLVER, lambda *_: None)
    assert found.is_shown
    assert found.told is not None
    assert (found.lost, found.step) == LOST[rule]


def test_the_page_on_members_tells_what_is_lost_without_each_rule() -> None:
    page = (Path(__file__).parents[4] / "spec" / "members.md").read_text("utf-8")
    table = rows(page.partition("`farref prove views --each rule`")[2].partition("`farref check rref")[0])
    assert table.keys() == {*RULES}
    for rule, (clause, lost) in table.items():
        assert clause in clauses()
        assert lost.startswith(f"{LOST[rule][0]} is lost: ")


@pytest.mark.parametrize("missing", QUIET.invariant, ids=lambda one: one.id)
def test_without_a_clause_a_quiet_state_need_not_be_clean(missing: Clause[State]) -> None:
    kept = tuple(one for one in QUIET.invariant if one is not missing)
    found = prove(replace(QUIET, invariant=kept), SOLVER, SOUND, only=lambda _, claim: claim in CLEAN)
    assert found.failures
    assert all(is_refuted(one, QUIET) for one in found.failures)


def test_quiet_states_exist_in_which_somebody_is_buried() -> None:
    given = [quiet(S), S.buried(holder(F)), S.held(F), S.minted(G), ~S.buried(holder(G)), *VIEWS.axioms]
    invariant = [one.holds(S) for one in (*RECLAIMING.invariant, *QUIET.invariant)]
    sizes: dict[Sort, int] = {FORK: 2, RREF: 1, WORKER: 3, VIEW: 1}
    assert small_world([*given, *invariant], VIEWS, SOLVER, sizes) is not None


# -- the prover can fail -----------------------------------------------------------------------------------------------


def of(sort: Sort, name: str, body: object) -> Clause[State]:
    return Clause(name, "-", "", (sort,), body)  # type: ignore[arg-type]


def nobody_hears_them(s: State, d: Term) -> Formula:
    return implies(s.buried(d), every(WORKER, lambda w: s.shuns(w, d)))


WRONG_CLAUSES = [
    of(FORK, "a confirmed user is counted, buried or not", lambda s, f: implies(s.confirmed(f), s.counted(f))),
    of(FORK, "nothing of the buried is counted", lambda s, f: implies(s.out(f), ~s.counted(f))),
    of(FORK, "what travels will be taken", lambda s, f: implies(s.travels(f), s.comes(f))),
    of(FORK, "the buried hold nothing", lambda s, f: implies(s.out(f), ~s.live(f))),
    of(FORK, "nobody has a fork of somebody excluded", lambda s, f: implies(s.live(f), ~s.shuns(holder(f), minter(f)))),
    of(FORK, "an uncreated fork is not counted", lambda s, f: implies(s.uncreated(f), ~s.counted(f))),
    of(FORK, "nothing lives of an entry that is gone", lambda s, f: implies(s.gone(rref_of(f)), ~s.live(f))),
    of(FORK, "a fetch is somewhere, excluded or not", lambda s, f: implies(s.fetches(f), _somewhere(s, f))),
    of(WORKER, "the buried hear nobody either", lambda s, w: implies(s.buried(w), s.shuns(w, w))),
    of(WORKER, "exclusion is mutual", lambda s, w: every(WORKER, lambda d: implies(s.shuns(w, d), s.shuns(d, w)))),
    of(WORKER, "also the buried shun the buried", nobody_hears_them),
    of(
        VIEW,
        "who has installed has settled",
        lambda s, v: every(WORKER, lambda w: ~s.installed(w, v) | s.settled(w, v)),
    ),
]


def _somewhere(s: State, f: Term) -> Formula:
    return s.fetch_call(f) | s.fetch_parked(f) | s.fetch_return(f) | s.fetch_failed(f)


@pytest.mark.parametrize("wrong", WRONG_CLAUSES, ids=lambda one: one.id)
def test_a_wrong_clause_is_refuted(wrong: Clause[State]) -> None:
    [failure] = with_clause(RECLAIMING, wrong, SOUND).failures
    assert is_refuted(failure, RECLAIMING)
    assert counterexample(failure, VIEWS, SOLVER) is not None


MINE = same(rref_of(F), R)
UNUSED = all_of(S.ready(R), ~S.used(R), MINE)
WRONG_STEPS = [
    Step("a worker hears somebody excluded again", S.shuns(W, D), S.at(W, D, shuns=False)),
    Step("somebody is buried whom one worker hears", ~S.shuns(W, D), S.at(D, buried=True)),
    Step("a worker settles what it has not installed", ~S.installed(W, V), S.at(W, V, settled=True)),
    Step("a worker settles with an heir", S.installed(holder(F), V) & S.pending(F), S.at(holder(F), V, settled=True)),
    Step("an owner stops counting somebody excluded", S.shut(F) & S.counted(F), S.at(F, counted=False)),
    Step("a parent forgets a child of somebody excluded", S.kept(F) & S.shuns(holder(G), holder(F)), S.at(F, kept=False)),
    Step("an entry goes while a fork is counted", UNUSED & S.counted(F), cast(State, dropped(S, R))),
    Step("a fetch of somebody excluded is parked", S.fetch_call(F) & S.shut(F), S.at(F, fetch_call=False, fetch_parked=True)),
    Step("an excluded creation is entered", all_of(S.remote_call(F), S.shut(F), MINE), S.at(R, created=True, running=True)),
    Step("an owner is excluded", excluded_in(V, D), S.but(shuns=lambda w, x: S.shuns(w, x) | same(x, minter(F)))),
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_STEPS, ids=lambda one: one.name)
def test_a_wrong_step_is_refuted(wrong: Step) -> None:
    [failure] = with_step(RECLAIMING, wrong, SOUND).failures
    assert is_refuted(failure, RECLAIMING)
    found = counterexample(failure, VIEWS, SOLVER)
    assert found is not None
    assert found.after is not None
    assert found.before.facts != found.after.facts


def test_an_invariant_that_allows_no_exclusion_is_not_a_proof() -> None:
    peaceful = Clause[State]("peaceful", "-", "", (WORKER, WORKER), lambda s, w, d: ~s.shuns(w, d))
    asked = replace(RECLAIMING, invariant=(*RECLAIMING.invariant, peaceful))
    found = prove(asked, SOLVER, SOUND, only=lambda _, claim: claim == "Y3")
    assert len(found.impossible) >= 5
    assert found.verdict is Verdict.UNKNOWN


def test_a_step_that_drops_an_entry_needs_a_first_element() -> None:
    drops = [case for case in cases(RECLAIMING, SOUND) if case.finite]
    assert {case.name.partition(":")[0] for case in drops} == {
        "FinishFunction", "OwnerLetGo", "CallFailed at the owner", "UserDelete", "Reclaim a fork"
    }  # fmt: skip
    [reclaim] = [case for case in drops if case.name.startswith("Reclaim")]
    assert with_step(RECLAIMING, replace(reclaim, finite=()), SOUND).failures


def test_what_arrives_is_refused_from_the_excluded_and_from_nobody_else() -> None:
    names = [case.name for case in cases(RECLAIMING, SOUND)]
    refused = {name.removesuffix(" refused") for name in names if name.endswith(" refused")}
    assert refused == {
        "RemoteCall", "FetchCall", "Call", "Return", "ForkRequest", "UserDelete", "CreateFailed", "ChildAccept"
    }  # fmt: skip


def test_clauses_are_sentences_and_those_of_rrefs_keep_their_numbers() -> None:
    for one in (*RECLAIMING.invariant, *RECLAIMING.goals, *QUIET.invariant):
        assert one.text.endswith("."), one.id
        assert one.text[0].isupper(), one.id
    assert [one.id for one in RECLAIMING.invariant] == [f"Y{n}" for n in range(1, 26)] + [f"V{n}" for n in range(1, 9)]
    assert CHANGED.keys() < {one.id for one in RECLAIMING.invariant}
