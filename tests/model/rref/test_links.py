"""A link that breaks while both ends live: what is on it waits, and arrives once after it was mended (R3, R36)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from farref.model.checker import fast, reference
from farref.model.checker.interface import Counterexample, Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_LINKS, SOUND
from farref.model.rref.user import User
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.properties.rref.sometimes import rref_witnesses
from tests.model.rref.play import Play

TWO: Final = Bounds(2, forks=2, fetches=1, failures=1, drops=1, duplicates=1, cuts=1)
THREE: Final = Bounds(3, forks=3, fetches=1, failures=1, cuts=1, exclusions=1, lost_owners=True)
CREATED: Final = ("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))", "FinishFunction(x0)")


def befallen(play: Play) -> list[str]:
    """What can happen to messages now."""
    kinds = ("Deliver", "Duplicate", "DropMessage", "FailCall")
    return [label for label in play.enabled() if label.startswith(kinds)]


def test_nothing_happens_to_what_is_on_a_broken_link_until_it_is_mended() -> None:
    play = Play(TWO)(*CREATED, "UserShare(f0, B, Call)", "FetchValue(f0)")
    before = befallen(play)
    assert befallen(play("Cut(B, A)")) == []
    assert befallen(play("Mend(B, A)")) == before


def test_what_is_sent_meanwhile_waits_too() -> None:
    play = Play(TWO)(*CREATED, "Cut(B, A)", "LetGo(f0)")
    assert (befallen(play), play.counted) == ([], [0])
    assert play("Mend(B, A)", "Deliver(UserDelete(f0))").counted == []


def test_a_report_that_a_call_failed_waits_for_the_next_epoch() -> None:
    play = Play(TWO)("CreateRemote(x0, A)", "FailCall(RemoteCall(f0))", "Cut(B, A)")
    assert "Deliver(RemoteFailed(f0))" not in play.enabled()
    assert "Deliver(RemoteFailed(f0))" in play("Mend(B, A)").enabled()


def test_a_control_message_is_sent_again_over_it_and_waits() -> None:
    play = Play(TWO)(*CREATED, "LetGo(f0)", "DropMessage(UserDelete(f0))", "Cut(B, A)", "Retry(UserDelete(f0))")
    assert befallen(play) == []


def test_the_application_notices_nothing() -> None:
    play = Play(THREE)(*CREATED)
    uses = {label for label in play.enabled() if label.startswith(("UserShare", "FetchValue", "LetGo", "OwnerShare"))}
    assert uses < {*play("Cut(B, A)").enabled()}


def test_other_links_work() -> None:
    play = Play(THREE)(*CREATED, "UserShare(f0, C, Call)", "Cut(B, A)", "Deliver(Call(f1))", "Deliver(ForkRequest(f1))")
    assert play.counted == [0, 1]


def test_nobody_connects_to_somebody_excluded() -> None:
    play = Play(THREE)(*CREATED, "Cut(B, A)", "Exclude(A)")
    assert "Mend(B, A)" in play.enabled()
    assert "Mend(B, A)" not in play("Install(B)").enabled()


def test_a_link_on_which_one_end_is_refused_does_not_break() -> None:
    play = Play(THREE)(*CREATED, "Exclude(A)")
    assert "Cut(B, A)" in play.enabled()
    assert not {"Cut(B, A)", "Mend(B, A)"} & {*play("Install(B)").enabled()}


def test_what_an_excluded_worker_said_over_a_broken_link_never_arrives_and_is_reclaimed() -> None:
    play = Play(replace(THREE, lost_owners=False))(*CREATED, "Cut(B, A)", "UserShare(f0, B, Call)", "Exclude(A)")
    play("Install(B)", "Install(C)", "Settle(B, 1)", "Settle(C, 1)", "Bury(1)", "Reclaim(B)")
    assert (befallen(play), play.counted, play.user(0).phase) == ([], [], User.CONFIRMED)


def test_a_worker_that_has_not_joined_has_no_link() -> None:
    late = Play(Bounds(3, forks=1, cuts=1, exclusions=1, joins=1))
    assert [label for label in late.enabled() if label.startswith("Cut")] == ["Cut(B, A)"]


# -- every rule is needed ----------------------------------------------------------------------------------------------

USERS: Final = Bounds(3, forks=2, cuts=1, owner_shares=False, self_shares=False)
NEEDED: Final = {
    "only_views_declare_dead": (replace(USERS, workers=2, forks=1), "P3", 5),
    "sends_again_after_a_break": (replace(USERS, workers=2, forks=1), "P3", 4),
    "takes_calls_once": (USERS, "P1", 14),
}
"""For each rule a world, what is lost there without it, and in how many steps."""


@pytest.mark.parametrize("engine", [fast, reference], ids=["fast", "reference"])
@pytest.mark.parametrize("rule", NEEDED)
def test_without_a_rule_a_value_is_lost_or_leaks(rule: str, engine: object) -> None:
    bounds, identity, steps = NEEDED[rule]
    [lost] = [one for one in rref_properties(bounds) if one.id == identity]
    found = engine.check(RRefModel(bounds, SOUND.without(rule)), (lost,)).counterexample  # type: ignore[attr-defined]
    assert isinstance(found, Counterexample)
    assert len(found.actions) == steps


@pytest.mark.parametrize("rule", NEEDED)
def test_with_it_the_same_world_is_sound(rule: str) -> None:
    bounds = replace(NEEDED[rule][0], exclusions=1)
    assert fast.check(RRefModel(bounds), rref_properties(bounds)).verdict is Verdict.HOLDS


def test_these_are_all_rules_about_links() -> None:
    assert NEEDED.keys() == {*OF_LINKS}


def test_every_situation_of_a_link_is_reached() -> None:
    bounds = replace(USERS, exclusions=1)
    found = fast.check(RRefModel(bounds), rref_witnesses(bounds))
    assert found.verdict is Verdict.HOLDS
    assert len([name for name in found.witnesses if "broken" in name]) == 3
