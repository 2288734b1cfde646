"""The protocol's clauses on the core, over the simulated network: one short run for each."""

from __future__ import annotations

import pytest

from farref.impl.effects import CompleteFetch, DropValue, RunCall, WakeWaiter
from farref.impl.errors import NotRunning, PeerDied, ReferenceRefused
from farref.impl.ids import ForkId, OwnedReference, UserReference, WorkerId
from farref.impl.messages import (
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    Control,
    CreateFailed,
    FetchCall,
    ForkRequest,
    RemoteCall,
    UserAccept,
    UserDelete,
)
from farref.impl.simulated import InFlight, Simulation

A, B, C = WorkerId(0), WorkerId(1), WorkerId(2)


def kind(flight: InFlight) -> type:
    """What a message is; a numbered one is what it carries."""
    return type(flight.message.body) if isinstance(flight.message, Control) else type(flight.message)


def under_way(world: Simulation, wanted: type, target: WorkerId | None = None) -> int:
    """The oldest message of a kind."""
    return next(f.id for f in world.in_flight() if kind(f) is wanted and target in (None, f.target))


def kinds(world: Simulation) -> list[type]:
    return [kind(flight) for flight in world.in_flight()]


def drain(world: Simulation) -> None:
    """Deliver everything, oldest first, until nothing is under way."""
    while world.in_flight():
        world.deliver(world.in_flight()[0].id)


def forks(world: Simulation, worker: WorkerId) -> list[ForkId]:
    return [fork for entry in world.observe()[worker].entries for fork, _ in entry.forks]


def is_empty(world: Simulation) -> bool:
    return not world.in_flight() and all(tables.is_empty() for tables in world.observe().values())


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def test_R10_creation_is_registered_on_receipt(world: Simulation) -> None:
    x = world.create_remote(A, B)
    assert not world.cores[A].is_confirmed(x)
    world.deliver(under_way(world, RemoteCall))
    assert forks(world, B) == [x.fork]
    world.deliver(under_way(world, UserAccept))
    assert world.cores[A].is_confirmed(x)
    assert world.observe()[B].entries[0].phase == "created"


def test_R12_a_creation_on_oneself_survives_its_handle(world: Simulation) -> None:
    x = world.create_on_self(B)
    world.let_go(B, x)
    assert world.observe()[B].entries
    world.finish_function(B, x.rref)
    assert is_empty(world)


def test_R13_a_local_rref_goes_silently(world: Simulation) -> None:
    world.let_go(B, world.create_local(B))
    assert is_empty(world)


def test_R14_R15_the_owners_fork_is_counted_first_and_confirmed_on_arrival(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, C, x)
    world.let_go(B, x)
    assert len(forks(world, B)) == 1
    world.deliver(under_way(world, Call))
    (handle,) = world.handles(C)
    assert world.cores[C].is_confirmed(handle)
    assert not world.in_flight()
    world.let_go(C, handle)
    drain(world)
    assert is_empty(world)


def test_R16_R18_a_call_is_parked_and_the_accept_goes_before_it_runs(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    world.deliver(under_way(world, Call))
    assert world.observe()[C].parked_calls
    world.deliver(under_way(world, ForkRequest))
    world.log.clear()
    world.deliver(under_way(world, Ack))
    sent = [type(effect).__name__ for _, effect in world.log]
    assert sent.index("Send") < sent.index("RunCall")
    assert kinds(world) == [RemoteCall, ChildAccept]


def test_R16_a_fork_in_a_result_is_usable_while_pending(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_in_result(A, C, x)
    world.deliver(under_way(world, type(world.in_flight()[-1].message)))
    (handle,) = world.handles(C)
    assert isinstance(handle, UserReference)
    world.fetch(C, handle)
    assert FetchCall in kinds(world)


def test_R19_R21_early_use_on_the_owner_waits_for_the_creation(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.share_as_argument(A, B, x)
    world.share_as_argument(A, C, x)
    world.deliver(under_way(world, Call, B))
    own = OwnedReference(x.rref)
    world.await_value(B, own)
    world.deliver(under_way(world, Call, C))
    world.deliver(under_way(world, ForkRequest))
    world.deliver(under_way(world, Ack, C))
    world.let_go(C, world.handles(C)[0])
    world.deliver(under_way(world, UserDelete))
    assert world.observe()[B].entries[0].phase == "expected"
    world.let_go(B, own)
    drain(world)
    world.finish_function(B, x.rref)
    assert any(isinstance(effect, WakeWaiter) for _, effect in world.log)
    world.let_go(A, x)
    drain(world)
    assert is_empty(world)


def test_R19_an_owner_that_shares_with_itself_swaps_the_fork_for_a_reference(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, B, x)
    world.let_go(B, x)
    assert len(forks(world, B)) == 1
    drain(world)
    assert not forks(world, B)
    world.let_go(B, x)
    assert is_empty(world)


def test_R20_an_abandoned_fetch_pins_its_user(world: Simulation) -> None:
    x = world.create_local(B)
    world.share_as_argument(B, A, x)
    world.let_go(B, x)
    drain(world)
    handle = world.handles(A)[0]
    assert isinstance(handle, UserReference)
    world.abandon_fetch(A, handle, world.fetch(A, handle))
    world.let_go(A, handle)
    assert kinds(world) == [FetchCall]
    drain(world)
    assert any(isinstance(effect, CompleteFetch) and effect.abandoned for _, effect in world.log)
    assert is_empty(world)


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
    del world._in_flight[flight.id]
    world._perform(C, world.cores[C].refuse(B, flight.message, "it cannot be read"))
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
    world.cores[B].owner.on_user_delete(x.rref, x.fork, C)
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


def test_control_messages_are_not_failed_and_calls_not_dropped(world: Simulation) -> None:
    world.create_remote(A, B)
    with pytest.raises(ValueError, match="once"):
        world.drop(under_way(world, RemoteCall))
    with pytest.raises(ValueError, match="once"):
        world.duplicate(under_way(world, RemoteCall))
