"""A broken link that is taken for two deaths: what each end does by R34, and what a third worker sees of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Verdict
from farref.model.rref import cut_steps
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import Entry
from farref.model.rref.rules import SOUND
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.properties.rref.sometimes import rref_witnesses
from tests.model.rref.play import Play

TWO: Final = Bounds(2, forks=2, fetches=1, cuts=1)
THREE: Final = Bounds(3, forks=3, fetches=1, cuts=1, results=True)
SEVERING: Final = SOUND.without("only_views_declare_dead")
CREATED: Final = ("CreateRemote(x0, A)", "Deliver(RemoteCall(f0))", "Deliver(UserAccept(f0))", "FinishFunction(x0)")


def test_what_is_under_way_on_the_link_is_gone_in_both_directions() -> None:
    play = Play(TWO, SEVERING)(
        *CREATED, "UserShare(f0, B, Call)", "FetchValue(f0)", "Deliver(FetchCall(f0))", "Cut(B, A)"
    )
    assert [label for label in play.enabled() if label.startswith(("Deliver", "Retry"))] == []


def test_nothing_is_sent_over_it_any_more() -> None:
    play = Play(TWO, SEVERING)(*CREATED, "Cut(B, A)", "LetGo(f0)")
    assert play.user(0).phase is User.ABSENT
    assert play.enabled() == []
    assert play.counted == [0]


def test_a_message_between_others_still_arrives() -> None:
    play = Play(THREE, SEVERING)(*CREATED, "UserShare(f0, C, Return)", "Cut(A, C)")
    assert "Deliver(Return(f1))" not in play.enabled()
    play = Play(THREE, SEVERING)(
        *CREATED, "UserShare(f0, C, Return)", "Cut(B, A)", "Deliver(Return(f1))", "Deliver(ForkRequest(f1))"
    )
    assert play.counted == [0, 1]


@pytest.mark.parametrize("label", ["UserShare(f0, C, Call)", "FetchValue(f0)"])
def test_every_use_of_an_orphan_is_refused(label: str) -> None:
    play = Play(THREE, SEVERING)(*CREATED)
    assert label in play.enabled()
    assert label not in play("Cut(B, A)").enabled()


def test_nobody_calls_somebody_who_is_lost() -> None:
    assert "CreateRemote(x0, A)" not in Play(THREE, SEVERING)("Cut(B, A)").enabled()
    play = Play(THREE, SEVERING)("CreateLocal(x0)", "Cut(B, A)")
    assert "OwnerShare(x0, A, Call)" not in play.enabled()
    assert "OwnerShare(x0, C, Call)" in play.enabled()
    assert "UserShare(f0, C, Call)" not in Play(THREE, SEVERING)(*CREATED, "Cut(A, C)").enabled()


def test_a_fetch_ends_with_an_error_and_the_owner_forgets_it() -> None:
    play = Play(TWO, SEVERING)(
        "CreateRemote(x0, A)", "FetchValue(f0)", "Deliver(FetchCall(f0))", "Deliver(RemoteCall(f0))"
    )
    assert not play.owner.fetches.is_empty()
    play("Cut(B, A)")
    assert play.owner.fetches.is_empty()
    assert play.user(0).fetch is Fetch.NONE
    assert play.world.application.asks.is_empty()


def test_a_parked_call_never_runs_and_its_fork_is_given_up() -> None:
    play = Play(THREE, SEVERING)(*CREATED, "UserShare(f0, C, Call)", "Deliver(Call(f1))")
    assert play.user(1).handle is Handle.PARKED
    play("Cut(B, C)")
    assert (play.user(1).phase, play.world.application.has[1]) == (User.ABSENT, Handle.NONE)
    assert list(play.user(0).children.members()) == [1]


def test_a_share_that_arrives_later_is_refused_and_withdrawn() -> None:
    play = Play(THREE, SEVERING)(
        *CREATED, "UserShare(f0, C, Call)", "Cut(B, C)", "Deliver(Call(f1))", "Deliver(CallFailed(f1))"
    )
    assert play.user(0).children.is_empty()
    assert play.world.application.has[1] is Handle.NONE


def test_a_creation_that_can_no_longer_arrive_is_an_error() -> None:
    play = Play(TWO, SEVERING)("CreateRemote(x0, A)", "UserShare(f0, B, Call)", "Deliver(Call(f1))")
    assert [play.owner.phase, play("Cut(B, A)").owner.phase] == [Entry.EXPECTED, Entry.READY]
    assert play.world.application.waits.is_empty()


def test_a_third_worker_that_waits_for_such_a_creation_is_answered() -> None:
    play = Play(THREE, SEVERING)(
        "CreateRemote(x0, A)", "UserShare(f0, C, Return)", "Deliver(Return(f1))", "FetchValue(f1)"
    )
    play("Deliver(FetchCall(f1))", "Deliver(ForkRequest(f1))", "Cut(B, A)", "Deliver(FetchReturn(f1))")
    assert play.user(1).fetch is Fetch.NONE


def test_the_tables_tell_the_truth_and_nobody_waits_for_ever() -> None:
    """What R34 promises holds, and so does what has nothing to do with who is lost."""
    bounds = Bounds(3, forks=2, fetches=1, cuts=1, owner_shares=False, self_shares=False)
    kept = tuple(one for one in rref_properties(bounds) if one.id in {"G3", "P2", "P4", "P5", "P6", "P8", "P11"})
    assert len(kept) == 7
    lost = rref_witnesses(replace(bounds, lost_owners=True))  # an owner that is taken for dead is one
    seen = (one for one in lost if "broken_link" not in one.id)  # nothing waits on it
    found = fast.check(RRefModel(bounds, SEVERING), (*kept, *seen))
    assert found.verdict is Verdict.HOLDS
    assert {"orphan_is_held", "share_is_refused_as_its_owner_is_lost"} <= found.witnesses.keys()


def test_a_link_that_says_nothing_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If an owner did not end what waits for a lost creation, P5 would break: the property above can fail."""
    monkeypatch.setattr(cut_steps, "is_awaited", lambda _: False)
    bounds = Bounds(2, forks=2, cuts=1)
    [answered] = [one for one in rref_properties(bounds) if one.id == "P5"]
    assert fast.check(RRefModel(bounds, SEVERING), (answered,)).verdict is Verdict.VIOLATED


def test_without_the_fault_a_world_has_nothing_of_it() -> None:
    assert len(Play(replace(THREE, cuts=0)).world.apart) == len(Play(replace(THREE, cuts=0)).world.mourned) == 0
    assert not [label for label in Play(replace(THREE, cuts=0)).enabled() if label.startswith("Cut")]
