"""The protocol's clauses on the core, over the simulated network: creation, sharing and fetching, one short run for each."""

from __future__ import annotations

from typing import get_args

import pytest

from farref.impl.core.effects import CompleteFetch, WakeWaiter
from farref.impl.core.ids import OwnedReference, UserReference
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    ChildAccept,
    ControlBody,
    FetchCall,
    ForkRequest,
    RemoteCall,
    UserAccept,
    UserDelete,
)
from farref.impl.simulated.network import Simulation
from tests.impl.core.simulation import A, B, C, drain, forks, is_empty, kinds, under_way


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def test_R4_R5_every_message_has_a_handler(world: Simulation) -> None:
    assert set(world.cores[A].handlers) == set(get_args(AnyMessage))
    assert set(world.cores[A].control_handlers) == set(get_args(ControlBody))


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
