"""Clauses that do not show while each message carries one fork, each worker has one life and every peer is right.

The twin's schedules are like that, so these are tests of their own.
"""

from __future__ import annotations

import msgspec
import pytest

from farref.impl.core.effects import AnswerFetch, CompleteFetch, RunCall, Value
from farref.impl.core.ids import (
    ForkData,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    SequenceNumber,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import (
    Ack,
    Call,
    CallFailed,
    Control,
    FetchCall,
    FetchReturn,
    ForkRequest,
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.errors import WireError
from farref.impl.simulated.network import Simulation
from tests.impl.core.simulation import A, B, C, drain, forks, is_empty, kind, kinds, under_way


@pytest.fixture
def world() -> Simulation:
    return Simulation(3)


def runs(world: Simulation) -> int:
    """How many calls have run."""
    return sum(isinstance(effect, RunCall) for _, effect in world.log)


def carried(world: Simulation, wanted: type[Call]) -> ForkData:
    """The one fork of the one message of a kind that is under way."""
    (message,) = (flight.message for flight in world.in_flight() if kind(flight) is wanted)
    assert isinstance(message, wanted)
    (data,) = message.forks
    return data


# -- several forks in one message --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_R16_a_call_runs_when_the_last_of_its_forks_is_confirmed(world: Simulation, order: tuple[int, int]) -> None:
    x, y = world.create_remote(A, B), world.create_remote(A, B)
    world.share_as_argument(A, C, x, y)
    world.deliver(under_way(world, Call))
    for flight in [f for f in world.in_flight() if kind(f) is ForkRequest]:
        world.deliver(flight.id)
    answers = [flight.id for flight in world.in_flight() if kind(flight) is Ack]
    world.deliver(answers[order[0]])
    (parked,) = world.observe()[C].parked_calls
    assert (len(parked.waiting_for), runs(world)) == (1, 0)
    world.deliver(answers[order[1]])
    assert (world.observe()[C].parked_calls, runs(world)) == ((), 1)


# -- what a refused message carried ------------------------------------------------------------------------------------


def test_R28_R29_the_cargo_of_a_refused_creation_is_withdrawn(world: Simulation) -> None:
    y = world.create_local(A)
    x = world.create_remote(A, B, sharing=[y])
    assert len(forks(world, A)) == 1
    world.refuse(under_way(world, RemoteCall))
    assert sorted(one.__name__ for one in kinds(world)) == ["CallFailed", "UserAccept"]
    drain(world)
    assert not forks(world, A)
    assert world.observe()[B].entries[0].failed
    let_go_of_all(world, (A, x), (A, y))


def test_R28_the_cargo_of_a_refused_result_is_withdrawn(world: Simulation) -> None:
    y = world.create_local(A)
    world.share_in_result(A, B, y)
    world.refuse(under_way(world, Return))
    assert kinds(world) == [CallFailed]
    drain(world)
    assert not forks(world, A)
    let_go_of_all(world, (A, y))


def fetched_with(world: Simulation, x: OwnedReference, y: OwnedReference) -> UserReference:
    """A fetches x from B, whose value holds y. The answer is under way; give what A holds."""
    world.share_as_argument(B, A, x)
    drain(world)
    (held,) = world.handles(A)
    assert isinstance(held, UserReference)
    world.fetch(A, held)
    world.deliver(under_way(world, FetchCall))
    core = world.cores[B]
    (answer,) = core.finish_function(x.rref, Value(y))
    assert isinstance(answer, AnswerFetch)
    world.perform(B, core.answer_fetch(answer, False, (core.share(y, A),)))
    return held


def test_R14_what_a_value_holds_is_counted_before_it_is_sent_and_as_long_as_it_is_held(world: Simulation) -> None:
    x, y = world.create_on_self(B), world.create_local(B)
    fetched_with(world, x, y)
    assert len(world.observe()[B].entries[1].forks) == 1
    drain(world)
    assert len(world.observe()[B].entries[1].forks) == 1


def test_R28_the_cargo_of_a_refused_value_is_withdrawn(world: Simulation) -> None:
    x, y = world.create_on_self(B), world.create_local(B)
    held = fetched_with(world, x, y)
    world.refuse(under_way(world, FetchReturn))
    assert kinds(world) == [CallFailed]
    drain(world)
    assert world.observe()[B].entries[1].forks == ()
    let_go_of_all(world, (A, held), (B, x), (B, y))


def let_go_of_all(world: Simulation, *held: tuple[WorkerId, Reference]) -> None:
    for worker, reference in held:
        world.let_go(worker, reference)
    drain(world)
    assert is_empty(world)


# -- peers that are wrong ----------------------------------------------------------------------------------------------


def test_R10_R34_only_its_owner_confirms_a_creation(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.perform(A, world.cores[A].receive(C, UserAccept(x.rref, x.fork)))
    assert not world.cores[A].is_confirmed(x)
    world.perform(A, world.cores[A].receive(B, UserAccept(x.rref, x.fork)))
    assert world.cores[A].is_confirmed(x)


def test_R28_only_its_receiver_refuses_a_fork(world: Simulation) -> None:
    """B says of a fork that A made for C that it will not have it."""
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    data = carried(world, Call)
    world.perform(A, world.cores[A].receive(B, CallFailed(None, (data,), "mistaken")))
    assert [child for child, _ in world.observe()[A].users[0].children] == [data.fork]
    world.perform(A, world.cores[A].receive(C, CallFailed(None, (data,), "it is mine to refuse")))
    assert world.observe()[A].users[0].children == ()


def test_R28_only_what_was_made_here_is_withdrawn_here(world: Simulation) -> None:
    """C says to B, which counts its fork, that it refuses what A made. A fork that is counted goes by `UserDelete` only."""
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    data = msgspec.structs.replace(carried(world, Call), parent=None)
    drain(world)
    assert data.fork in forks(world, B)
    world.perform(B, world.cores[B].receive(C, CallFailed(None, (data,), "mistaken")))
    assert data.fork in forks(world, B)


# -- peers that die ----------------------------------------------------------------------------------------------------


def test_R34_every_fetch_that_waits_is_told_of_its_owners_death(world: Simulation) -> None:
    """Nobody holds the reference any more, and nobody has given up."""
    x = world.create_remote(A, B)
    asked = {world.fetch(A, x), world.fetch(A, x)}
    world.let_go(A, x)
    world.kill(B)
    told = [effect for _, effect in world.log if isinstance(effect, CompleteFetch)]
    assert {one.fetch for one in told} == asked
    assert not any(one.abandoned for one in told)
    assert is_empty(world)


def test_R34_a_fetch_that_came_before_its_creation_goes_with_its_dead_creator(world: Simulation) -> None:
    x = world.create_remote(A, B)
    world.fetch(A, x)
    world.deliver(under_way(world, FetchCall))
    assert [entry.phase for entry in world.observe()[B].entries] == ["absent"]
    assert world.cores[B].peer_died(A, "it was killed") == []
    assert world.observe()[B].entries == ()


@pytest.mark.parametrize("has_ended", [False, True])
def test_R34_a_creation_that_came_in_time_survives_its_creator(world: Simulation, has_ended: bool) -> None:
    x = world.create_remote(A, B)
    drain(world)
    if has_ended:
        world.finish_function(B, x.rref)
    (before,) = world.observe()[B].entries
    world.perform(B, world.cores[B].peer_died(A, "it was killed"))
    (after,) = world.observe()[B].entries
    assert (after.phase, after.failed, after.forks) == (before.phase, False, before.forks)


def test_R34_a_call_that_waits_is_not_handed_what_the_dead_owned(world: Simulation) -> None:
    """One of its two references is confirmed when its owner dies; the call waits for the other one."""
    x, y = world.create_local(A), world.create_remote(A, B)
    world.share_as_argument(A, C, x, y)
    world.deliver(under_way(world, Call))
    world.kill(A)
    drain(world)
    assert runs(world) == 0
    assert world.handles(C) == []
    assert world.observe()[C].users == ()


# -- another life ------------------------------------------------------------------------------------------------------


def test_R2_R7_an_answer_to_an_earlier_life_answers_nothing(world: Simulation) -> None:
    """The numbers are those of a control message under way, but it was somebody else's with the same rank."""
    x = world.create_remote(A, B)
    world.share_as_argument(A, C, x)
    fork: ForkId = carried(world, Call).fork
    world.deliver(under_way(world, Call))
    ((peer, number),) = world.unanswered(C)
    assert (peer, number) == (B, SequenceNumber(1))
    life = world.cores[C].incarnation
    world.perform(C, world.cores[C].receive(B, Ack(Incarnation(life + 1), number)))
    assert world.unanswered(C) == ((B, number),)
    assert not world.cores[C].user.records[fork].confirmed
    world.perform(C, world.cores[C].receive(B, Ack(life, number)))
    assert world.cores[C].user.records[fork].confirmed


LATER = 1
"""How much greater an incarnation is than the one that its worker has shown."""


def met(world: Simulation) -> Simulation:
    """Let every worker know which life the others are in, as workers do that have met."""
    for rank, core in world.cores.items():
        core.here.lives.update({peer: one.incarnation for peer, one in world.cores.items() if peer != rank})
    return world


def test_R2_a_control_message_of_a_life_that_was_not_shown_ends_the_link(world: Simulation) -> None:
    """Taken for a new life, it would make the receiver discard everything of the life that there is (R7)."""
    x = met(world).create_remote(A, B)
    drain(world)
    body, life = UserDelete(x.rref, x.fork), world.cores[A].incarnation
    later = Control(Incarnation(life + LATER), SequenceNumber(1), SequenceNumber(1), body)
    with pytest.raises(WireError, match="incarnation"):
        world.cores[B].receive(A, later)
    assert x.fork in forks(world, B)
    world.let_go(A, x)
    drain(world)
    assert forks(world, B) == []


@pytest.mark.parametrize("field", ["rref", "fork"])
def test_R2_a_creation_in_a_life_that_was_not_shown_ends_the_link(world: Simulation, field: str) -> None:
    met(world).create_remote(A, B)
    (message,) = (flight.message for flight in world.in_flight())
    life = msgspec.structs.replace(getattr(message, field), incarnation=world.cores[A].incarnation + LATER)
    with pytest.raises(WireError, match="has not begun"):
        world.cores[B].receive(A, msgspec.structs.replace(message, **{field: life}))
    assert world.observe()[B].entries == ()


@pytest.mark.parametrize("field", ["rref", "fork", "parent"])
def test_R2_a_fork_of_a_life_that_was_not_shown_is_refused(world: Simulation, field: str) -> None:
    x = met(world).create_remote(A, B)
    world.share_as_argument(A, C, x)
    data = carried(world, Call)
    life = msgspec.structs.replace(getattr(data, field), incarnation=world.cores[A].incarnation + LATER)
    (call,) = (flight.message for flight in world.in_flight() if kind(flight) is Call)
    wrong = msgspec.structs.replace(call, forks=(msgspec.structs.replace(data, **{field: life}),))
    world.perform(C, world.cores[C].receive(A, wrong))
    assert (world.observe()[C].users, runs(world)) == ((), 0)
    assert CallFailed in kinds(world)
