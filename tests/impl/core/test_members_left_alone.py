"""What a worker leaves alone about members: orders that are old, words of the lost, advice that is no news (R35 to R45)."""

from __future__ import annotations

import pytest

from farref.impl.core.authority import Authority
from farref.impl.core.core import Core
from farref.impl.core.effects import Joined, KeepAuthority, Lost, Send, Suspected
from farref.impl.core.ids import WorkerId
from farref.impl.core.members import Phase
from farref.impl.core.messages import Call, CallFailed, Excluded, ForkRequest, UserAccept
from farref.impl.core.views import Buried, Suspect, View, ViewSettled
from farref.impl.errors import WireError
from tests.impl.core.simulation import kinds
from tests.impl.core.views import HOST, A, B, C, D, E, Views


def view(number: int, *excluded: WorkerId, workers: int = 6) -> View:
    return View(number, workers, tuple((who, "it was lost") for who in excluded))


def sent(effects: list[object], kind: type) -> list[object]:
    """The bodies of the control messages of a kind among some effects."""
    bodies = [getattr(one.message, "body", None) for one in effects if isinstance(one, Send)]
    return [body for body in bodies if isinstance(body, kind)]


def member() -> Core:
    """B, in a world of six."""
    return Views().cores[B]


# -- what a worker is to another ---------------------------------------------------------------------------------------


def test_R37_R41_a_worker_is_absent_then_a_member_then_excluded_then_buried() -> None:
    core = member()
    newcomer = WorkerId(6)
    assert core.members.phase(newcomer) is Phase.ABSENT
    core.members.install(view(1, workers=7))
    assert core.members.phase(newcomer) is Phase.MEMBER
    core.members.install(view(2, C, workers=7))
    assert [core.members.phase(who) for who in (C, D)] == [Phase.EXCLUDED, Phase.MEMBER]
    core.members.bury(2)
    assert [core.members.phase(who) for who in (C, D)] == [Phase.BURIED, Phase.MEMBER]


def test_R38_a_worker_that_learns_it_is_excluded_is_so_to_itself_and_loses_all_others_once() -> None:
    core = member()
    core.members.install(view(1, C))
    core.receive(A, Excluded(2, "it was slow"))
    assert core.members.phase(B) is Phase.EXCLUDED
    assert set(core.dead) == {HOST, A, C, D, E}


def test_R38_to_be_excluded_is_no_news_about_those_who_are_lost_already() -> None:
    core = member()
    core.members.install(view(1, C))
    told = [effect.worker for effect in _received(core, A, Excluded(2, "it was slow")) if isinstance(effect, Lost)]
    assert sorted(told) == [HOST, A, D, E]


def _received(core: Core, source: WorkerId, message: Excluded) -> list[object]:
    return list(core.receive(source, message))


# -- views -------------------------------------------------------------------------------------------------------------


def test_R37_an_older_view_is_not_installed_again() -> None:
    core = member()
    core.members.install(view(2, C))
    assert sent(list(core.members.install(view(1, C))), ViewSettled) == [ViewSettled(2)]
    assert core.members.view == 2


def test_R39_a_copy_of_a_view_that_is_not_settled_yet_settles_nothing() -> None:
    """D holds a fork that C minted, and B has not counted it."""
    world = Views()
    x = world.value()
    world.handed(C, D, world.given(A, C, x))
    world.exclude(C)
    world.let(View, D)
    assert D not in world.settled()
    effects = world.cores[D].members.install(world.cores[HOST].members.hosted.view)  # type: ignore[union-attr]
    assert sent(list(effects), ViewSettled) == []
    world.let(ForkRequest, B)
    world.program()
    assert D in world.settled()


def test_R39_a_fork_that_is_counted_is_no_heir() -> None:
    world = Views()
    world.given(C, D, world.given(A, C, world.value()))
    world.exclude(C)
    world.let(View, D)
    assert D in world.settled()


def test_R41_a_view_that_was_not_installed_here_cannot_be_buried_here() -> None:
    core = member()
    core.members.install(view(1, C))
    with pytest.raises(WireError, match="was not settled"):
        core.members.bury(2)


def test_R41_only_those_are_buried_who_were_excluded_in_the_buried_view() -> None:
    core = member()
    core.members.install(view(1, C))
    core.members.install(view(2, C, D))
    core.members.bury(1)
    assert core.here.buried == {C}
    core.members.bury(2)
    assert core.here.buried == {C, D}


def test_R44_a_newcomer_is_told_of_when_its_view_is_buried() -> None:
    core = member()
    core.members.install(view(1, workers=7))
    core.members.install(view(2, workers=8))
    core.members.bury(1)
    assert core.members.newcomers == {WorkerId(7): 2}


def test_R44_a_newcomer_that_is_excluded_before_its_view_is_buried_is_not_told_of() -> None:
    core = member()
    core.members.install(view(1, workers=7))
    core.members.install(view(2, WorkerId(6), workers=7))
    assert [effect for effect in core.members.bury(2) if isinstance(effect, Joined)] == []


def test_R37_a_caller_that_is_lost_with_the_owner_is_told_nothing_of_its_call() -> None:
    world = Views()
    world.share_as_argument(A, D, world.value())
    world.let(Call, D)
    world.exclude(A, B)
    world.let(View, D)
    assert world.observe()[D].parked_calls == ()
    assert CallFailed not in kinds(world)


def test_R42_a_child_of_somebody_who_lives_pins_its_parent() -> None:
    """A waits for its child on D. C is buried, who has nothing to do with it."""
    world = Views()
    world.handed(A, D, world.value())
    before = world.cores[A].user.parents.copy()
    core = world.cores[A]
    core.members.install(view(1, C))
    core.members.bury(1)
    assert before
    assert core.user.parents == before


# -- the fence ---------------------------------------------------------------------------------------------------------


def test_R34_without_a_view_nobody_is_told_that_it_is_excluded() -> None:
    core = member()
    core.peer_died(C, "it was killed")
    assert core.receive(C, UserAccept(None, None)) == []  # type: ignore[arg-type]


def test_R38_whoever_is_excluded_itself_tells_nobody_that_it_is() -> None:
    core = member()
    core.members.install(view(1, C))
    assert [type(effect) for effect in core.receive(C, UserAccept(None, None))] == [Send]  # type: ignore[arg-type]
    core.receive(A, Excluded(2, "it was slow"))
    assert core.receive(C, UserAccept(None, None)) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("who", [B, C])
def test_R34_nobody_declares_itself_dead_or_anybody_twice(who: WorkerId) -> None:
    core = member()
    core.peer_died(C, "the first reason")
    assert core.peer_died(who, "another reason") == []
    assert core.dead == {C: "the first reason"}


# -- the authority -----------------------------------------------------------------------------------------------------


def test_R35_the_host_excludes_others_only() -> None:
    world = Views()
    world.exclude(HOST, C)
    world.rest()
    assert set(world.cores[A].dead) == {C}


def test_R36_advice_about_the_authority_or_the_lost_is_given_to_nobody() -> None:
    core = member()
    core.members.install(view(1, C))
    assert core.members.suspect(HOST, "it does not answer") == []
    assert core.members.suspect(C, "it does not answer") == []
    assert sent(list(core.members.suspect(D, "it does not answer")), Suspect)


def test_R36_advice_about_somebody_who_is_excluded_is_not_passed_on() -> None:
    world = Views()
    world.exclude(C)
    world.log.clear()
    world.suspect(HOST, C)
    assert world.told(HOST, Suspected) == []


def test_R35_a_worker_that_hosts_no_authority_decides_nothing() -> None:
    core = member()
    core.members.handlers[ViewSettled](A, ViewSettled(1))
    core.members.handlers[Suspect](A, Suspect(C, "it does not answer"))
    assert core.taken() == []


def test_R40_a_word_that_changes_nothing_is_not_written_down() -> None:
    world = Views()
    world.exclude(C)
    world.log.clear()
    world.let(View, A)
    world.let(ViewSettled, HOST)
    assert world.told(HOST, KeepAuthority) == []


def test_R40_the_lost_settle_nothing_and_nobody_settles_what_was_not_issued() -> None:
    authority = Authority(3)
    authority.exclude([B], "it was lost")
    assert authority.on_settled(B, 1) == []
    assert authority.on_settled(A, 7) == []
    assert authority.on_settled(HOST, 1) == []
    assert {order.body for order in authority.on_settled(A, 1)} == {Buried(1)}


def test_R40_a_view_is_buried_once() -> None:
    authority = Authority(3)
    authority.exclude([B], "it was lost")
    authority.on_settled(HOST, 1)
    assert authority.on_settled(A, 1)
    assert authority.on_settled(A, 1) == []


# -- what is kept for the excluded only --------------------------------------------------------------------------------


def test_R45_what_the_application_holds_is_not_kept_for_the_excluded() -> None:
    world = Views()
    x = world.value()
    core = world.cores[A]
    world.exclude(C)
    world.rest()
    assert not core.channel.owes()
    assert not core.members.keep_all()  # a record, with a handle
    core.let_go(x)
    assert core.channel.owes()
    assert not core.members.keep_all()  # a delete that is not answered


def test_R45_a_value_that_is_held_is_not_kept_for_the_excluded() -> None:
    core = member()
    core.create_on_self()
    core.members.install(view(1, C))
    core.channel.forget(HOST)
    assert not core.channel.owes()
    assert not core.members.keep_all()


def test_R45_a_world_with_nobody_excluded_keeps_nothing_for_them() -> None:
    assert not member().members.keep_all()


def test_R36_nobody_else_hears_of_the_views() -> None:
    world = Views()
    world.exclude(C)
    assert kinds(world) == [View] * 4
