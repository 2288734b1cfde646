"""Members, clause by clause (R41 to R46): what is let go of, what is lost with an owner, and who comes back."""

from __future__ import annotations

import pytest

from farref.impl.core.effects import CompleteFetch, DropValue, Joined
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import (
    Call,
    CallFailed,
)
from farref.impl.core.views import Buried, Suspect, View, ViewSettled
from farref.impl.errors import PeerDied, UnknownWorker
from tests.impl.core.simulation import kinds
from tests.impl.core.views import HOST, A, B, C, D, E, Views


def test_R41_forks_of_the_excluded_are_released_when_they_are_buried_and_not_before() -> None:
    world = Views()
    x = world.value()
    world.given(A, C, x)
    world.let_go(A, x)
    world.program()
    world.exclude(C)
    world.let(View, A, B, D, E)
    world.let(ViewSettled, *[HOST] * 4)
    assert world.holders() == [C]
    assert world.entry().kept_for == (C,)
    world.let(Buried, B)
    assert world.told(B, DropValue)
    assert world.observe()[B].entries == ()


def test_R42_a_parent_forgets_a_child_of_the_excluded_when_they_are_buried_and_not_before() -> None:
    world = Views()
    x = world.value()
    world.handed(A, C, x)
    world.let_go(A, x)
    world.exclude(C)
    world.let(View, A, B, D, E)
    world.let(ViewSettled, *[HOST] * 4)
    assert [holder for _, holder in world.observe()[A].users[0].children] == [C]
    world.let(Buried, A)
    assert world.observe()[A].users == ()
    world.rest()
    assert world.are_empty(C)


def test_R43_what_an_excluded_owner_had_is_lost_and_every_use_says_so() -> None:
    world = Views()
    x = world.value()
    y = world.given(A, C, x)
    world.share_as_argument(A, D, x)
    world.exclude(B)
    world.let(View, C, D)
    with pytest.raises(PeerDied, match="worker 2 was excluded"):
        world.fetch(C, y)
    world.let(Call, D)  # its sender has not installed the view
    assert world.handles(D) == []
    assert kinds(world).count(CallFailed) == 1
    world.let_go(C, y)
    world.rest()
    world.let_go(A, x)
    assert world.are_empty(B)


def test_R43_a_call_that_waits_for_an_excluded_owner_does_not_run() -> None:
    world = Views()
    world.share_as_argument(A, D, world.value())
    world.let(Call, D)
    world.exclude(B)
    world.let(View, D)
    assert world.observe()[D].parked_calls == ()
    (failed,) = [flight.message for flight in world.in_flight() if isinstance(flight.message, CallFailed)]
    assert failed.reason == "worker 2 was excluded: it was lost"


def test_R44_a_worker_that_joins_anew_inherits_nothing_and_its_predecessor_is_buried() -> None:
    world = Views()
    x = world.value()
    world.given(A, C, x)
    world.exclude(C)
    again = world.join()
    assert again == WorkerId(6)
    with pytest.raises(UnknownWorker):
        world.share_as_argument(A, again, x)
    world.rest()
    assert world.holders() == [A]
    assert world.told(A, Joined) == [Joined(again)]
    y = world.given(A, again, x)
    assert world.holders() == [A, again]
    world.fetch(again, y)
    world.rest()
    assert world.told(again, CompleteFetch)
    assert Suspect not in kinds(world)


@pytest.mark.parametrize("kept_on", [A, B])
def test_R45_shutdown_does_not_wait_for_what_is_kept_for_the_excluded(kept_on: WorkerId) -> None:
    world = Views()
    x = world.value()
    world.handed(A, C, x)
    if kept_on == B:
        world.program()
    world.let_go(A, x)
    if kept_on == B:
        world.program()
    assert not world.cores[kept_on].is_empty()
    world.exclude(C)
    world.let(View, kept_on)
    world.cores[kept_on].channel.outgoing.clear()  # that it has settled is not answered yet
    assert world.cores[kept_on].is_empty()
    assert not world.observe()[kept_on].is_empty()


def test_R46_whoever_is_excluded_by_mistake_loses_nothing_before_everybody_has_cut_it_off() -> None:
    world = Views()
    x = world.value()
    y = world.given(A, C, x)
    world.let_go(A, x)
    world.program()
    world.exclude(C)
    world.let(View, A, D, E)
    world.fetch(C, y)
    world.program()
    (fetched,) = world.told(C, CompleteFetch)
    assert isinstance(fetched, CompleteFetch)
    assert not fetched.failed
