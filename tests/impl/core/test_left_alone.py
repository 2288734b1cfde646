"""What a worker leaves alone: what is about nothing that is here, is over already, or is not its sender's affair.

Hardly any of it happens while every peer is right. Each test is about a guard of the core that no schedule needs
(`properties/zoo/mutants/guards.py` takes them out one at a time).
"""

from __future__ import annotations

import pytest

from farref.impl.core.effects import (
    CompleteFetch,
    Confirmed,
    FailCall,
    RunCreation,
    Send,
    WakeWaiter,
)
from farref.impl.core.ids import FIRST_LIFE, CallId, FetchId, ForkData, ForkId, RRefId, SequenceNumber, UserReference
from farref.impl.core.messages import (
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    Control,
    ControlBody,
    CreateFailed,
    FetchReturn,
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.errors import ReferenceRefused, WireError
from farref.impl.simulated.network import Simulation
from tests.impl.core.simulation import A, B, C, drain, forks, is_empty, kinds, under_way

UNKNOWN = RRefId(A, FIRST_LIFE, 77)
NOBODYS = ForkId(A, FIRST_LIFE, 77)


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def control(body: ControlBody, number: int = 1) -> Control:
    return Control(FIRST_LIFE, SequenceNumber(number), SequenceNumber(number), body)


# -- what is not here --------------------------------------------------------------------------------------------------


def test_R26_a_delete_that_finds_no_entry_is_answered_and_changes_nothing(world: Simulation) -> None:
    assert world.cores[B].receive(A, control(UserDelete(UNKNOWN, NOBODYS))) == [
        Send(A, Ack(FIRST_LIFE, SequenceNumber(1)))
    ]
    assert world.observe()[B].is_empty()


def test_R28_a_fork_of_an_entry_that_is_gone_is_withdrawn_without_effect(world: Simulation) -> None:
    data = ForkData(B, RRefId(B, FIRST_LIFE, 77), ForkId(B, FIRST_LIFE, 78), A, None)
    assert world.cores[B].receive(A, CallFailed(None, (data,), "it was refused")) == []


def test_R24_an_acceptance_of_a_child_that_nobody_waits_for_changes_nothing(world: Simulation) -> None:
    x = world.create_remote(A, B)
    before = world.observe()[A].users
    world.perform(A, world.cores[A].receive(C, control(ChildAccept(x.rref, NOBODYS))))
    assert world.observe()[A].users == before


def test_R20_an_answer_that_nobody_asked_for_is_thrown_away(world: Simulation) -> None:
    (effect,) = world.cores[A].receive(B, FetchReturn(UNKNOWN, NOBODYS, FetchId(5), False, (), b""))
    assert isinstance(effect, CompleteFetch)
    assert effect.abandoned


def test_R12_what_is_let_go_of_cannot_be_used(world: Simulation) -> None:
    owned, held = world.create_local(A), world.create_remote(A, B)
    drain(world)
    world.fetch(A, held)
    for reference in (owned, held):
        world.let_go(A, reference)
        with pytest.raises(ReferenceRefused, match="not held"):
            world.let_go(A, reference)
    assert [user.handles for user in world.observe()[A].users] == [0]  # the fetch pins it, and nobody may use it
    with pytest.raises(ReferenceRefused, match="not held"):
        world.cores[A].let_go(UserReference(B, UNKNOWN, NOBODYS))


def test_R12_an_entry_that_others_hold_is_not_held_here(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, C, x)
    world.let_go(B, x)
    with pytest.raises(ReferenceRefused, match="not held"):
        world.let_go(B, x)
    assert len(forks(world, B)) == 1


def test_R31_what_is_gone_is_not_confirmed(world: Simulation) -> None:
    x = world.create_remote(A, B)
    drain(world)
    assert world.cores[A].is_confirmed(x)
    world.let_go(A, x)
    assert not world.cores[A].is_confirmed(x)
    assert not world.cores[A].user.is_confirmed(NOBODYS)


def test_R18_a_confirmation_of_what_is_not_held_says_nothing(world: Simulation) -> None:
    core = world.cores[A]
    core.user.confirm(NOBODYS)
    assert core.taken() == []


# -- what is over ------------------------------------------------------------------------------------------------------


def test_R18_a_fork_is_confirmed_once(world: Simulation) -> None:
    x = world.create_remote(A, B)
    first = world.cores[A].receive(B, UserAccept(x.rref, x.fork))
    assert [type(effect) for effect in first] == [Confirmed]
    assert world.cores[A].receive(B, UserAccept(x.rref, x.fork)) == []


def test_R29_a_creation_that_was_confirmed_is_not_reported_as_failed(world: Simulation) -> None:
    x = world.create_remote(A, B)
    (message,) = (flight.message for flight in world.in_flight())
    assert isinstance(message, RemoteCall)
    drain(world)
    assert world.cores[A].carrier_failed(B, message, "so it is said") == []
    assert world.cores[A].is_confirmed(x)


def test_R29_R34_a_creation_that_fails_after_its_handle_is_gone_and_its_owner_dead_tells_nobody(
    world: Simulation,
) -> None:
    x = world.create_remote(A, B)
    (message,) = (flight.message for flight in world.in_flight())
    assert isinstance(message, RemoteCall)
    core = world.cores[A]
    core.peer_died(B, "it was killed")
    core.let_go(x)
    assert core.carrier_failed(B, message, "its link is gone") == []


def test_R20_R34_a_fetch_that_pinned_the_last_record_ends_with_its_owner(world: Simulation) -> None:
    """The record goes as its fetch ends, so there is no orphan to make."""
    x = world.create_remote(A, B)
    drain(world)
    world.fetch(A, x)
    world.let_go(A, x)
    world.kill(B)
    assert world.observe()[A].is_empty()


def test_R21_whoever_gives_up_is_not_woken_and_the_others_are(world: Simulation) -> None:
    x = world.create_on_self(A)
    first, second = world.await_value(A, x), world.await_value(A, x)
    assert world.cores[A].stop_waiting(x, first) == []
    world.finish_function(A, x.rref)
    woken = [effect.waiter for _, effect in world.log if isinstance(effect, WakeWaiter)]
    assert woken == [second]
    assert world.cores[A].stop_waiting(x, second) == []


# -- what is somebody else's affair ------------------------------------------------------------------------------------


def test_R28_a_refusal_of_no_call_fails_no_call(world: Simulation) -> None:
    x = world.create_local(A)
    world.share_in_result(A, B, x)
    world.refuse(under_way(world, Return))
    drain(world)
    assert not [effect for _, effect in world.log if isinstance(effect, FailCall) and effect.call is None]
    assert forks(world, A) == []


@pytest.mark.parametrize("kind", [RemoteCall, Return])
def test_R28_of_a_refused_message_without_references_nothing_is_withdrawn(world: Simulation, kind: type) -> None:
    if kind is RemoteCall:
        world.create_remote(A, B)
    else:
        world.share_in_result(A, B)
    world.refuse(under_way(world, kind))
    assert CallFailed not in kinds(world)


def test_R28_a_refused_call_without_references_is_told_once(world: Simulation) -> None:
    world.share_as_argument(A, B)
    world.refuse(under_way(world, Call))
    assert kinds(world) == [CallFailed]


def test_R34_nothing_is_said_again_to_the_dead(world: Simulation) -> None:
    core = world.cores[B]
    core.peer_died(A, "it was killed")
    assert core.carrier_failed(A, UserAccept(UNKNOWN, NOBODYS), "nobody is there") == []
    assert core.carrier_failed(A, CallFailed(CallId(1), (), "no"), "nobody is there") == []
    core.channel.send(A, UserDelete(UNKNOWN, NOBODYS))
    assert core.taken() == []


def test_R34_a_peer_that_has_a_worker_spoken_to_that_is_not_there_ends_its_link(world: Simulation) -> None:
    with pytest.raises(WireError, match="there is none"):
        world.cores[B].channel.send(world.cores[B].me.__class__(9), UserDelete(UNKNOWN, NOBODYS))


def test_R34_a_call_that_waits_is_given_up_only_for_a_fork_that_it_was_given(world: Simulation) -> None:
    """C waits for B to count a fork, and holds another one of A. A dies: the call runs all the same."""
    held, given = world.create_local(A), world.create_remote(A, B)
    world.share_in_result(A, C, held)
    world.deliver(under_way(world, Return))
    world.share_as_argument(A, C, given)
    world.deliver(under_way(world, Call))
    world.perform(C, world.cores[C].peer_died(A, "it was killed"))
    assert len(world.observe()[C].parked_calls) == 1


def test_R34_a_creation_that_waits_for_a_fork_of_the_dead_is_made_as_an_error(world: Simulation) -> None:
    """C's creation on B carries a reference that A owns and has not counted yet. A dies."""
    x = world.create_remote(C, A)
    y = world.create_remote(C, B, sharing=[x])
    world.deliver(under_way(world, RemoteCall, B))
    assert not [effect for _, effect in world.log if isinstance(effect, RunCreation)]
    world.perform(B, world.cores[B].peer_died(A, "it was killed"))
    (entry,) = world.observe()[B].entries
    assert entry.failed
    assert y.rref == entry.rref


def test_R29_the_owner_of_a_failed_creation_is_told_only_that(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.fail(under_way(world, RemoteCall))
    assert kinds(world) == [CreateFailed]
    drain(world)
    world.let_go(A, x)
    drain(world)
    assert is_empty(world)


# -- the end -----------------------------------------------------------------------------------------------------------


def test_R32_a_worker_is_empty_only_when_every_table_is(world: Simulation) -> None:
    core = world.cores[A]
    assert core.is_empty()
    owned = core.create_local(None)  # type: ignore[arg-type]
    assert not core.is_empty()
    core.let_go(owned)
    held = world.create_remote(A, B)
    assert not core.is_empty()
    drain(world)
    world.let_go(A, held)
    assert not core.is_empty()  # the owner has not answered the delete
    drain(world)
    assert core.is_empty()
    core.engine.open_context()
    assert not core.is_empty()


def test_R32_an_entry_that_is_expected_is_no_empty_table(world: Simulation) -> None:
    """B waits for a creation. Nobody is excluded, so nothing is kept for the excluded only (R45)."""
    x = world.create_remote(A, B)
    world.share_in_result(A, B, x)
    world.deliver(under_way(world, Return))
    (handle,) = world.handles(B)
    world.let_go(B, handle)
    world.deliver(under_way(world, ChildAccept))
    world.deliver(under_way(world, Ack, B))
    assert not world.cores[B].channel.owes()
    assert not world.cores[B].is_empty()


def test_R32_whoever_leaves_lets_go_of_every_handle_and_tells_the_owner(world: Simulation) -> None:
    x = world.create_remote(A, B)
    mine = world.create_local(A)
    world.cores[A].calls.hold(x)
    drain(world)
    world.finish_function(B, x.rref)
    world.perform(A, world.cores[A].let_go_of_everything())
    assert mine.rref not in world.cores[A].owner.entries
    assert UserDelete in kinds(world)
    drain(world)
    assert is_empty(world)
