"""Views in the model: what an exclusion does on each worker, and that each of its seven rules is needed, by a shortest run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from farref.cli import cli
from farref.model.checker import fast, reference
from farref.model.checker.interface import Counterexample, Verdict
from farref.model.rref import view_steps
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import Entry
from farref.model.rref.rules import OF_VIEWS, SOUND
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.properties.rref.limits import complaint
from farref.properties.traces.file import encode, record
from tests.model.rref.play import Play

TWO: Final = Bounds(2, forks=2, fetches=1, exclusions=1)
THREE: Final = Bounds(3, forks=3, exclusions=1, results=True)
CREATED: Final = ("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))", "FinishFunction(x0)")

# -- one step after the other ------------------------------------------------------------------------------------------


def test_whoever_has_installed_a_view_takes_nothing_from_the_excluded() -> None:
    play = Play(TWO)(*CREATED, "LetGo(f0)", "Exclude(A)", "Install(B)", "Deliver(UserDelete(f0))")
    assert play.counted == [0]
    assert "Deliver(Ack(UserDelete(f0)))" not in play.enabled()


def test_whoever_has_not_installed_it_still_does() -> None:
    play = Play(TWO)(*CREATED, "LetGo(f0)", "Exclude(A)", "Deliver(UserDelete(f0))")
    assert play.owner.phase is Entry.GONE


def test_an_excluded_worker_does_not_install_the_view_and_goes_on() -> None:
    play = Play(TWO)(*CREATED, "Exclude(A)", "Install(B)", "UserShare(f0, B, Call)")
    assert "Install(A)" not in play.enabled()
    assert Play(TWO)(*CREATED, "Exclude(A)", "FetchValue(f0)").user(0).fetch is Fetch.WAITING


def test_its_parked_fetch_is_forgotten_and_its_fork_is_kept() -> None:
    play = Play(TWO)("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "FetchValue(f0)", "Deliver(FetchCall(f0))")
    play("Exclude(A)", "Install(B)")
    assert play.owner.fetches.is_empty()
    assert play.counted == [0]


def test_nothing_is_shared_with_it() -> None:
    play = Play(TWO)("CreateLocal(x0)", "Exclude(A)", "Install(B)")
    assert "OwnerShare(x0, A, Call)" not in play.enabled()


def test_a_creation_that_cannot_arrive_is_an_error_and_its_creator_counts() -> None:
    play = Play(TWO)("CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))", "Exclude(A)", "Install(B)")
    assert (play.owner.phase, play.owner.waiting, play.counted) == (Entry.READY, False, [0])
    play("OwnerLetGo(x0)", "Settle(B, 1)", "Bury(1)", "Reclaim(B)")
    assert play.owner.phase is Entry.GONE


def test_so_is_one_that_is_named_only_later() -> None:
    play = Play(THREE)(
        "CreateRemote(x0, A)", "UserShare(f0, C, Return)", "Deliver(Return(f1))", "Exclude(A)", "Install(B)"
    )
    assert play.owner.phase is Entry.ABSENT
    play("Deliver(ForkRequest(f1))")
    assert (play.owner.phase, play.counted) == (Entry.READY, [0, 1])


def test_a_view_is_not_settled_by_who_holds_an_heir() -> None:
    play = Play(THREE)(*CREATED, "UserShare(f0, C, Return)", "Deliver(Return(f1))", "Exclude(A)", "Install(C)")
    assert "Settle(C, 1)" not in play.enabled()
    play("Deliver(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))")
    assert "Settle(C, 1)" in play.enabled()
    assert "Deliver(ChildAccept(f1))" not in play.enabled()


def test_what_the_buried_held_goes_when_everybody_has_settled() -> None:
    play = Play(THREE)(*CREATED, "Exclude(A)", "Install(B)", "Settle(B, 1)")
    assert "Bury(1)" not in play.enabled()
    play("Install(C)", "Settle(C, 1)", "Bury(1)")
    assert play.counted == [0]
    play("Reclaim(B)")
    assert play.owner.phase is Entry.GONE
    assert play.user(0).handle is Handle.HELD


def test_a_parent_forgets_a_child_of_the_buried_and_goes() -> None:
    play = Play(THREE)(*CREATED, "UserShare(f0, C, Call)", "LetGo(f0)", "Exclude(C)", "Install(A)", "Settle(A, 1)")
    play("Install(B)", "Settle(B, 1)", "Bury(1)")
    assert play.user(0).phase is User.CONFIRMED
    play("Reclaim(A)", "Deliver(UserDelete(f0))")
    assert play.owner.phase is Entry.GONE


def test_without_its_owner_a_user_goes_with_its_handle() -> None:
    play = Play(replace(THREE, lost_owners=True, fetches=1))(*CREATED, "UserShare(f0, C, Call)", "FetchValue(f0)")
    play("Exclude(B)", "Install(A)")
    assert (play.user(0).fetch, play.user(0).handle) == (Fetch.NONE, Handle.HELD)
    assert "FetchValue(f0)" not in play.enabled()
    play("LetGo(f0)")
    assert play.user(0).phase is User.ABSENT
    play("Install(C)", "Deliver(Call(f1))")
    assert play.user(1).phase is User.ABSENT
    assert "Deliver(CallFailed(f1))" in play.enabled()


def test_a_worker_joins_in_place_of_one_that_is_excluded() -> None:
    play = Play(Bounds(3, forks=2, exclusions=1, joins=1))("CreateLocal(x0)")
    assert "Join(C)" not in play.enabled()
    assert "OwnerShare(x0, C, Call)" not in play.enabled()
    play("Exclude(A)", "Join(C)", "OwnerShare(x0, C, Call)", "Deliver(Call(f0))")
    assert play.user(0).phase is User.CONFIRMED
    assert "Settle(C, 1)" not in play.enabled(), "it has settled the view that it joined in"


def test_of_two_views_the_later_one_can_be_buried_where_the_first_never_is() -> None:
    """C is excluded before it has settled view 1; so view 1 waits for nobody any more once view 2 is settled (R40)."""
    play = Play(Bounds(3, forks=1, exclusions=2))("Exclude(A)", "Install(B)", "Settle(B, 1)", "Exclude(C)")
    assert "Bury(1)" not in play.enabled()
    play("Install(B)", "Settle(B, 2)", "Bury(2)")
    assert not [label for label in play.enabled() if label.startswith("Bury")]


def test_a_world_without_exclusions_knows_nothing_of_views() -> None:
    play = Play(replace(THREE, exclusions=0))
    assert len(play.world.views.excluded) == 0
    assert not [label for label in play.enabled() if label.startswith("Exclude")]


@pytest.mark.parametrize(
    "bounds",
    [Bounds(3, joins=1), Bounds(2, joins=1, exclusions=1), Bounds(3, rrefs=3, forks=1, joins=1, exclusions=1)],
    ids=str,
)
def test_whoever_joins_needs_a_place(bounds: Bounds) -> None:
    assert complaint(bounds) is not None


# -- every rule is needed ----------------------------------------------------------------------------------------------

FEW: Final = Bounds(3, forks=2, exclusions=1, owner_shares=False, self_shares=False)
NEEDED: Final = {
    "refuses_the_excluded": (FEW, "P1", 12),
    "fails_creation_of_the_excluded": (replace(FEW, workers=2), "P3", 10),
    "settles_what_came_from_the_excluded": (FEW, "P1", 12),
    "everybody_settles": (FEW, "P1", 9),
    "same_view": (replace(FEW, exclusions=2), "P1", 10),
    "waits_until_settled": (FEW, "P1", 7),
    "children_wait_too": (FEW, "P1", 9),
}
"""For each rule a world, what is lost there without it, and in how many steps."""


def shortest(engine: object, rule: str) -> Counterexample:
    bounds, identity, _ = NEEDED[rule]
    [lost] = [one for one in rref_properties(bounds) if one.id == identity]
    found = engine.check(RRefModel(bounds, SOUND.without(rule)), (lost,)).counterexample  # type: ignore[attr-defined]
    assert isinstance(found, Counterexample)
    return found


@pytest.mark.parametrize("engine", [fast, reference], ids=["fast", "reference"])
@pytest.mark.parametrize("rule", NEEDED)
def test_without_a_rule_a_value_is_lost_or_leaks(rule: str, engine: object) -> None:
    assert len(shortest(engine, rule).actions) == NEEDED[rule][2]


@pytest.mark.parametrize("rule", NEEDED)
def test_with_it_the_same_world_is_sound(rule: str) -> None:
    bounds = NEEDED[rule][0]
    assert fast.check(RRefModel(bounds), rref_properties(bounds)).verdict is Verdict.HOLDS


def test_these_are_all_rules_about_views() -> None:
    assert NEEDED.keys() == {*OF_VIEWS}


STORY: Final = (
    *("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "FinishFunction(x0)", "UserShare(f0, C, Return)"),
    *("Deliver(Return(f1))", "UserShare(f1, D, Return)", "Deliver(Return(f2))"),
    *("Exclude(A)", "Install(B)", "Settle(B, 1)", "Install(D)", "Settle(D, 1)", "Exclude(C)", "Bury(1)"),
)


def test_without_the_same_view_a_member_loses_a_value() -> None:
    """A shares with C, C with D; A is excluded, then C. In view 1 D's fork is no heir, as C is a member (R40).

    The search above finds a shorter run, in which whoever loses is excluded itself. This one is too long for a search, and is
    taken step by step.
    """
    bounds = Bounds(4, forks=3, exclusions=2, results=True)
    play = Play(bounds, SOUND.without("same_view"))(*STORY, "Reclaim(B)")
    [lost] = [one for one in rref_properties(bounds) if one.id == "P1"]
    assert (play.owner.phase, play.user(2).handle) == (Entry.GONE, Handle.HELD)
    assert [case.label for case in lost.cases if not case.holds(play.world)][-1].endswith("f2")
    assert "Bury(1)" not in Play(bounds)(*STORY[:-1]).enabled()


# -- what would be noticed ---------------------------------------------------------------------------------------------


def test_a_view_that_nobody_buries_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_steps, "bury", lambda *_: None)
    found = fast.check(RRefModel(FEW), rref_properties(FEW), stop_at_violation=False)
    assert found.verdicts["Vend"] is Verdict.VIOLATED
    assert found.verdicts["P3"] is Verdict.VIOLATED


def test_a_view_that_lets_nothing_go_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_steps, "_without_child", lambda world, *_: world)
    assert fast.check(RRefModel(FEW), rref_properties(FEW)).verdict is Verdict.VIOLATED


def test_a_share_that_goes_on_being_told_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_steps, "_silenced", lambda world, _: world)
    found = fast.check(RRefModel(FEW), rref_properties(FEW))
    assert found.counterexample is not None
    assert found.counterexample.property.id == "P3"


# -- as a picture ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["svg", "mermaid", "itf", "shiviz", "json"])
def test_a_run_with_views_can_be_drawn(form: str, tmp_path: Path) -> None:
    """The authority is no worker and has no lifeline: what it does goes across all of them."""
    trace, drawing = tmp_path / "trace.json", tmp_path / "trace.svg"
    bounds = NEEDED["waits_until_settled"][0]
    trace.write_bytes(encode(record(bounds, "sound", "waits_until_settled", shortest(fast, "waits_until_settled"))))
    how = ["-o", str(drawing)] if form == "svg" else ["--format", form]
    shown = CliRunner().invoke(cli, ["explain", str(trace), *how])
    assert shown.exit_code == 0
    assert "exclude" in (drawing.read_text() if form == "svg" else shown.output).lower()
