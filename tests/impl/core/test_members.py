"""Members, clause by clause (R35 to R40): who is excluded, what ends at once, and when they are buried."""

from __future__ import annotations

import pytest

from farref.impl.core.authority import Authority
from farref.impl.core.effects import CompleteFetch, KeepAuthority, Suspected, WakeWaiter
from farref.impl.core.ids import OwnedReference
from farref.impl.core.messages import (
    Call,
    ChildAccept,
    Excluded,
    FetchCall,
    ForkRequest,
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.core.views import Buried, View, ViewSettled
from farref.impl.errors import PeerDied, WasExcluded, WireError
from tests.impl.core.simulation import kinds
from tests.impl.core.views import HOST, A, B, C, D, E, Views


def test_R35_whoever_is_excluded_is_excluded_in_every_later_view_and_numbers_are_given_once() -> None:
    authority = Authority(4)
    (first, *_), (second, *_) = authority.exclude([A], "one"), authority.exclude([B], "two")
    assert first.body == View(1, 4, ((A, "one"),))
    assert second.body == View(2, 4, ((A, "one"), (B, "two")))
    assert authority.exclude([A, B], "again") == []


def test_R35_a_reason_travels_until_everybody_has_heard_it() -> None:
    authority = Authority(4)
    authority.exclude([A], "one")
    for member in (HOST, B, C):
        authority.on_settled(member, 1)
    (order, *_) = authority.exclude([B], "two")
    assert order.body == View(2, 4, ((A, ""), (B, "two")))


def test_R35_an_authority_that_is_restarted_goes_on_where_it_ended_and_gives_its_orders_again() -> None:
    world = Views()
    x = world.value()
    world.exclude(C)
    world.let(View, A, B, D)
    (kept, *_) = world.told(HOST, KeepAuthority)
    assert isinstance(kept, KeepAuthority)
    for flight in world.in_flight():
        world.take(flight.id)
    host = world.cores[HOST]
    host.channel.outgoing.clear()
    world.perform(HOST, host.members.host(Authority.from_state(kept.state)))
    world.exclude(D)
    world.rest()
    assert {tables.view for who, tables in world.observe().items() if who not in (C, D)} == {2}
    assert {tables.buried for who, tables in world.observe().items() if who not in (C, D)} == {2}
    assert world.holders() == [x.fork.created_on]


def test_R35_only_the_authority_is_obeyed() -> None:
    world = Views()
    for order in (View(1, 6, ((C, "no"),)), Buried(0)):
        with pytest.raises(WireError, match="is not the authority"):
            world.cores[B].members.handlers[type(order)](A, order)


def test_R36_advice_that_nobody_answers_keeps_nobody_from_leaving() -> None:
    world = Views()
    world.suspect(A, B)
    assert [one.message for one in world.observe()[A].unanswered] == ["Suspect"]
    assert world.observe()[A].is_empty()


def test_R36_a_broken_link_changes_nothing_and_what_is_on_it_arrives_later() -> None:
    world = Views()
    x = world.value()
    before = world.observe()
    world.cut(A, B)
    world.suspect(A, B)
    world.rest()
    assert world.told(HOST, Suspected) == [Suspected(B, A, "it does not answer")]
    assert world.observe() == before
    fetch = world.fetch(A, x)
    world.let_go(A, x)
    world.rest()
    assert world.holders() == [A]
    world.mend(A, B)
    world.rest()
    assert [effect.fetch for effect in world.told(A, CompleteFetch) if isinstance(effect, CompleteFetch)] == [fetch]
    assert world.are_empty()


def test_R37_nothing_is_taken_from_the_excluded_not_even_what_was_under_way() -> None:
    world = Views()
    x = world.value()
    y = world.given(A, C, x)
    world.share_as_argument(C, D, y)
    world.let_go(C, y)
    world.exclude(C)
    world.let(View, B, D)
    world.let(Call, D)
    assert world.handles(D) == []
    assert UserDelete not in kinds(world)  # its child pins the zombie's record
    assert world.holders() == [A, C]


def test_R37_their_parked_fetches_are_forgotten_and_control_messages_to_them_stop() -> None:
    world = Views()
    x = world.create_remote(A, B)
    world.program()
    world.fetch(C, world.given(A, C, x))
    world.program()
    world.let_go(A, x)
    assert len(world.entry().fetches) == 1
    world.exclude(C, A)
    world.let(View, B)
    assert world.entry().fetches == ()
    world.finish_function(B, x.rref)
    assert FetchCall not in kinds(world)
    assert world.unanswered(B) == ((HOST, 1),)  # that it has settled


def test_R37_waits_end_with_an_error_that_names_them() -> None:
    world = Views()
    x = world.create_remote(A, B)
    world.program()
    world.fetch(A, x)
    world.exclude(B)
    world.let(View, A)
    assert world.errors(A, CompleteFetch) == ["worker 2 was excluded: it was lost"]


def test_R37_nothing_is_shared_with_them_and_nothing_is_made_on_them() -> None:
    world = Views()
    x = world.value()
    world.exclude(C)
    world.let(View, A)
    for begin in (lambda: world.share_as_argument(A, C, x), lambda: world.create_remote(A, C)):
        with pytest.raises(PeerDied, match="worker 3 was excluded"):
            begin()
    assert world.observe()[A].users[0].children == ()


@pytest.mark.parametrize("comes_first", [View, ForkRequest])
def test_R37_what_they_were_to_create_is_an_error_and_kept_for_its_creator(comes_first: type) -> None:
    world = Views()
    x = world.create_remote(A, B)
    world.handed(A, D, x)
    world.exclude(A)
    for wanted in (View, ForkRequest) if comes_first is View else (ForkRequest, View):
        world.let(wanted, B)
    entry = world.entry()
    assert (entry.phase, entry.failed, entry.kept_for) == ("ready", True, (A,))
    assert world.holders() == [D]
    world.let(RemoteCall, B)  # what was under way comes too late
    assert kinds(world).count(UserAccept) == 0
    for handle in world.handles(D):
        world.let_go(D, handle)
    world.program()
    assert world.entry().forks == ()  # nobody counts, and still it waits: somebody else may have it from A
    world.rest()
    assert world.are_empty(A)


def test_R37_code_on_the_owner_does_not_wait_for_a_creation_that_cannot_come() -> None:
    world = Views()
    world.share_in_result(A, B, world.create_remote(A, B))
    world.let(Return, B)
    (mine,) = world.handles(B)
    assert isinstance(mine, OwnedReference)
    world.await_value(B, mine)
    world.exclude(A)
    world.let(View, B)
    assert world.errors(B, WakeWaiter) == ["worker 1 was excluded: it was lost"]


def test_R38_whoever_is_excluded_gets_that_for_an_answer_and_nothing_else() -> None:
    world = Views()
    x = world.given(A, C, world.value())
    world.exclude(C)
    world.let(View, B)
    world.fetch(C, x)
    world.let(FetchCall, B)
    assert [f.message for f in world.in_flight() if f.target == C] == [
        Excluded(1, "worker 3 was excluded: it was lost")
    ]


def test_R38_whoever_learns_it_uses_and_sends_nothing_any_more() -> None:
    world = Views()
    x = world.given(A, C, world.value())
    mine = world.create_local(C)
    fetch = world.fetch(C, x)
    world.exclude(C)
    world.let(View, B)
    world.let(FetchCall, B)
    world.let(Excluded, C)
    assert world.errors(C, CompleteFetch) == ["worker 3 was excluded in view 1: worker 3 was excluded: it was lost"]
    for use in (
        lambda: world.fetch(C, x),
        lambda: world.share_as_argument(C, D, x),
        lambda: world.create_remote(C, D),
        lambda: world.create_local(C),
        lambda: world.await_value(C, mine),
    ):
        with pytest.raises(WasExcluded, match="worker 3 was excluded in view 1"):
            use()
    world.let_go(C, x)
    assert not [flight for flight in world.in_flight() if flight.source == C]
    assert fetch == 1


def test_R39_a_worker_settles_when_its_heirs_are_counted_and_their_accept_goes_nowhere() -> None:
    world = Views()
    heir = world.handed(C, D, world.given(A, C, world.value()))
    world.exclude(C)
    world.let(View, A, B, D, E)
    assert world.observe()[D].heirs == (heir.fork,)
    assert world.settled() == [A, B, E]
    world.program()
    assert world.observe()[D].heirs == ()
    assert world.settled() == [A, B, D, E]
    assert ChildAccept not in kinds(world)
    world.rest()
    assert world.holders() == [A, D]


def test_R39_what_an_excluded_owner_would_have_to_count_is_no_heir() -> None:
    world = Views()
    world.handed(C, D, world.given(A, C, world.value()))
    world.exclude(C, B)
    world.let(View, D)
    assert world.observe()[D].heirs == ()
    assert ViewSettled in kinds(world)


def test_R40_a_view_is_buried_when_everybody_has_settled_it() -> None:
    world = Views()
    world.exclude(C)
    world.let(View, A, B, D)
    world.let(ViewSettled, HOST, HOST, HOST)
    assert Buried not in kinds(world)
    world.let(View, E)
    world.let(ViewSettled, HOST)
    assert kinds(world).count(Buried) == 4


def test_R40_a_view_of_which_a_member_is_lost_is_never_buried_and_the_next_one_is() -> None:
    world = Views()
    world.exclude(C)
    world.let(View, A, B, D)
    world.let(ViewSettled, HOST, HOST, HOST)
    world.exclude(E)
    assert Buried not in kinds(world)
    world.rest()
    assert [world.observe()[who].buried for who in (HOST, A, B, D)] == [2, 2, 2, 2]


def test_R36_a_core_and_its_tables_agree_that_advice_keeps_nothing() -> None:
    world = Views()
    world.perform(A, world.cores[A].members.suspect(B, "it does not answer"))
    assert [body for _, _, body, _ in world.cores[A].channel.unanswered()] != []
    assert (world.cores[A].is_empty(), world.observe()[A].is_empty()) == (True, True)
