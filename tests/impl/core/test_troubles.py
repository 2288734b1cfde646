"""The protocol's clauses on the core, over the simulated network: losses, copies, failures, timeouts, death and the end."""

from __future__ import annotations

import msgspec
import pytest

from farref.impl.core.effects import CompleteFetch, DropValue, RunCall, WakeWaiter
from farref.impl.core.ids import OwnedReference, UserReference
from farref.impl.core.messages import (
    Ack,
    Call,
    CallFailed,
    CreateFailed,
    FetchCall,
    ForkRequest,
    RemoteCall,
    UserDelete,
)
from farref.impl.errors import NotRunning, PeerDied, ReferenceRefused, WireError
from farref.impl.simulated.network import Simulation
from tests.impl.core.simulation import A, B, C, drain, forks, is_empty, kind, kinds, under_way


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def test_R7_a_late_copy_of_a_fork_request_counts_nobody(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_in_result(A, C, x)
    world.deliver(world.in_flight()[-1].id)
    world.duplicate(under_way(world, ForkRequest))
    world.deliver(under_way(world, Ack, C))
    world.let_go(C, world.handles(C)[0])
    world.deliver(under_way(world, UserDelete))
    assert not forks(world, B)
    world.deliver(under_way(world, ForkRequest))
    assert not forks(world, B)


def test_R6_what_is_lost_is_sent_again(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, C, x)
    world.let_go(B, x)
    drain(world)
    world.let_go(C, world.handles(C)[0])
    world.drop(under_way(world, UserDelete))
    ((peer, number),) = world.unanswered(C)
    world.retry(C, peer, number)
    drain(world)
    assert is_empty(world)


def test_R6_retries_come_by_time_and_grow(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, C, x)
    drain(world)
    world.let_go(C, world.handles(C)[0])
    core = world.cores[C]
    assert not core.tick(0.1)
    assert core.tick(0.6)
    assert not core.tick(1.0)
    assert core.tick(2.0)


def test_R27_a_timed_out_creation_can_only_be_let_go(world: Simulation) -> None:
    x = world.create_remote(A, B)
    assert world.time_out_creation(A, x)
    with pytest.raises(ReferenceRefused, match="timed out"):
        world.share_as_argument(A, C, x)
    with pytest.raises(ReferenceRefused, match="timed out"):
        world.fetch(A, x)
    world.let_go(A, x)
    assert kinds(world) == [RemoteCall]
    assert not world.cores[A].is_confirmed(x)
    drain(world)
    world.finish_function(B, x.rref)
    drain(world)
    assert is_empty(world)


def test_R28_a_failed_share_is_withdrawn(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, C, x)
    world.fail(under_way(world, Call))
    assert not forks(world, B)
    world.let_go(B, x)
    assert is_empty(world)


def test_R28_a_refused_message_takes_on_none_of_its_forks(world: Simulation) -> None:
    x, y = world.create_local(B), world.create_remote(B, A)
    world.share_as_argument(B, C, x, y)
    flight = next(f for f in world.in_flight() if kind(f) is Call)
    assert isinstance(flight.message, Call)
    world.take(flight.id)
    world.perform(C, world.cores[C].refuse(B, flight.message, "it cannot be read"))
    assert world.observe()[C].is_empty()
    world.deliver(under_way(world, CallFailed))
    assert not forks(world, B)
    assert not world.observe()[B].users[0].children


def test_R29_a_failed_creation_is_created_as_an_error(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.fetch(A, x)
    world.deliver(under_way(world, FetchCall))
    world.fail(under_way(world, RemoteCall))
    world.deliver(under_way(world, CreateFailed))
    assert world.observe()[B].entries[0].failed
    drain(world)
    assert world.cores[A].is_confirmed(x)
    assert any(isinstance(effect, CompleteFetch) and effect.failed for _, effect in world.log)
    world.let_go(A, x)
    drain(world)
    assert is_empty(world)


def test_R32_after_shutdown_nothing_begins(world: Simulation) -> None:
    x = world.create_local(B)
    world.shut_down()
    with pytest.raises(NotRunning):
        world.create_local(B)
    with pytest.raises(NotRunning):
        world.share_as_argument(B, C, x)
    world.let_go(B, x)
    assert is_empty(world)


def test_R34_a_delete_from_somebody_else_is_ignored(world: Simulation) -> None:
    x = world.create_remote(A, B)
    drain(world)
    world.cores[B].owner.on_user_delete(C, UserDelete(x.rref, x.fork))
    assert forks(world, B) == [x.fork]


def test_R34_the_death_of_an_owner_ends_what_waits_for_it(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    world.fetch(A, x)
    world.deliver(under_way(world, Call))
    assert world.observe()[C].parked_calls
    world.kill(B)
    assert not world.observe()[C].parked_calls
    assert any(isinstance(effect, CompleteFetch) and effect.failed for _, effect in world.log)
    assert not any(isinstance(effect, RunCall) for _, effect in world.log)
    drain(world)
    with pytest.raises(PeerDied, match="owner"):
        world.share_as_argument(A, C, x)
    world.let_go(A, x)
    assert is_empty(world)


def test_R34_the_death_of_a_creator_ends_what_waits_for_its_creation(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, B, x)
    world.deliver(under_way(world, Call))
    own = OwnedReference(x.rref)
    world.await_value(B, own)
    world.kill(A)
    assert any(isinstance(effect, WakeWaiter) for _, effect in world.log)
    world.let_go(B, own)
    assert any(isinstance(effect, DropValue) for _, effect in world.log)
    assert is_empty(world)


def test_R34_whoever_asks_after_the_death_of_a_creator_is_told(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    world.deliver(under_way(world, Call))
    world.kill(A)
    drain(world)
    (entry,) = world.observe()[B].entries
    assert (entry.phase, entry.failed) == ("ready", True)
    (handle,) = world.handles(C)
    assert isinstance(handle, UserReference)
    world.fetch(C, handle)
    drain(world)
    assert any(isinstance(effect, CompleteFetch) and effect.failed for _, effect in world.log)
    world.let_go(C, handle)
    drain(world)
    assert is_empty(world)


def test_control_messages_are_not_failed_and_calls_not_dropped(world: Simulation) -> None:
    world.create_remote(A, B)
    with pytest.raises(ValueError, match="once"):
        world.drop(under_way(world, RemoteCall))
    with pytest.raises(ValueError, match="once"):
        world.duplicate(under_way(world, RemoteCall))


def test_R34_a_creation_under_another_name_leaves_nothing(world: Simulation) -> None:
    """Nothing of a refused message has taken effect, neither its creation nor the forks among its arguments."""
    world.create_remote(C, B)
    x = world.create_local(A)
    world.share_as_argument(A, B, x)
    created, shared = (flight.message for flight in world.in_flight())
    assert isinstance(created, RemoteCall)
    assert isinstance(shared, Call)
    with pytest.raises(WireError, match="claims to have created"):
        world.cores[B].receive(A, msgspec.structs.replace(created, forks=shared.forks))
    assert world.cores[B].is_empty()
