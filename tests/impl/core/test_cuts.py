"""The implementation does what the model says of a link that breaks while both ends live: C1 to C6 of spec/members.md.

These are defects of the rules (R34, A21), and so the implementation has them. When it follows R36 and A29, each of these tests
turns round.
"""

from __future__ import annotations

from farref.impl.core.autograd.messages import CleanupContext, Closed, Commit, PropagateGradients, Report
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Call, ForwardCall
from farref.impl.simulated.network import Simulation
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C, drain, forks, under_way


def cut(world: Simulation, one: WorkerId, other: WorkerId) -> None:
    """Break the link between two workers: what is under way on it is gone, and each declares the other dead."""
    for flight in world.in_flight():
        if {flight.source, flight.target} == {one, other}:
            world.take(flight.id)
    for who, lost in ((one, other), (other, one)):
        world.perform(who, world.cores[who].peer_died(lost, "the link broke"))


def test_C1_a_record_stays_on_a_worker_to_which_nobody_is_dead() -> None:
    world = Simulation(3)
    x = world.create_remote(A, B)
    drain(world)
    world.finish_function(B, x.rref)
    world.share_as_argument(A, C, x)
    world.deliver(under_way(world, Call))
    cut(world, B, C)
    drain(world)
    world.let_go(A, x)
    drain(world)
    tables = world.observe()
    assert [len(tables[who].users) for who in (A, B, C)] == [1, 0, 0]
    assert tables[A].dead == ()
    assert forks(world, B) == [x.fork]


def test_C2_an_entry_stays_for_a_user_that_has_let_go() -> None:
    world = Simulation(2)
    x = world.create_remote(A, B)
    drain(world)
    world.finish_function(B, x.rref)
    cut(world, A, B)
    world.let_go(A, x)
    drain(world)
    assert world.observe()[A].is_empty()
    assert forks(world, B) == [x.fork]


def test_C3_a_pass_returns_and_a_living_worker_has_no_gradient() -> None:
    world = World()
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C] * 2.0)
    run = world.backward(B, world.context, [there])
    world.do()
    world.let(PropagateGradients, C)
    world.let(Report, B)
    assert under_way(world, Commit, C) is not None
    cut(world, B, C)
    assert world.ended[run].fault is None
    assert not world.in_pass(C)
    assert world.seen(C) == {}


def chain(world: World) -> None:
    """A's loss depends on B's result, and that on C's; B has sent its gradient on, and reported so."""
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C] * 2.0)
    (result,) = world.sent(B, A, there * 3.0)
    world.backward(A, world.context, [result])
    world.do()
    world.let(PropagateGradients, B)
    world.let(Report, A)


def test_C4_and_C5_a_pass_waits_for_ever_and_a_worker_stays_in_it() -> None:
    world = World()
    chain(world)
    cut(world, B, C)
    drain(world)
    assert world.ended == {}
    assert world.in_pass(B)
    assert world.observe()[A].dead == ()


def test_C6_a_released_context_is_never_forgotten() -> None:
    world = World()
    world.sent(A, B, world.x)
    world.release(A, world.context)
    world.call(B, C, world.context, [world.w[B] * 2.0])
    world.deliver(under_way(world, CleanupContext, B))
    world.deliver(under_way(world, Closed, A))
    assert under_way(world, ForwardCall, C) is not None
    cut(world, B, C)
    drain(world)
    assert [len(tables.contexts) for tables in world.observe().values()] == [1, 1, 1]
