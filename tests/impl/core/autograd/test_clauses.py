"""The clauses of autograd one by one, on the simulated network."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.messages import (
    Abort,
    Cause,
    CleanupContext,
    Closed,
    Commit,
    Forget,
    Mark,
    PropagateGradients,
    Report,
    Resume,
    Seek,
    Settled,
)
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import CallFailed, Control, ForwardCall
from farref.impl.errors import ContextReleased, PassRefused, WireError
from farref.impl.simulated.network import InFlight
from tests.impl.core.autograd.programs import settle
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C, kinds, under_way

ORDERS = range(40)


def test_A9_A25_a_call_that_arrives_late_is_refused_and_accounted_for() -> None:
    world = World()
    forward = world.call(A, B, world.context, [world.x])
    world.release(A, world.context)
    world.let(CleanupContext)
    world.let(Closed)
    assert world.context in world.cores[A].engine.contexts
    world.deliver(under_way(world, ForwardCall))
    assert {CallFailed, Settled} <= set(kinds(world))
    assert forward not in world.received
    settle(world, Random(0))
    assert all(core.is_empty() for core in world.cores.values())


def unreadable(world: World, flight: InFlight) -> None:
    """Let a message arrive that its receiver cannot read."""
    assert isinstance(flight.message, ForwardCall)
    world.perform(flight.target, world.cores[flight.target].refuse(flight.source, flight.message, "it cannot be read"))


def test_A9_A25_a_call_that_is_refused_has_been_received(monkeypatch: pytest.MonkeyPatch) -> None:
    """B cannot read it. Nobody says that it failed, so only B can say that it is under way no more."""
    world = World()
    world.call(A, B, world.context, [world.x])
    with monkeypatch.context() as patch:
        patch.setattr(world, "arrive", partial(unreadable, world))
        world.deliver(under_way(world, ForwardCall))
    assert kinds(world) == [CallFailed]
    world.release(A, world.context)
    world.let(CleanupContext)
    controls = [flight.message for flight in world.in_flight() if isinstance(flight.message, Control)]
    (told,) = (control.body for control in controls if isinstance(control.body, Closed))
    assert (told.got, told.failed) == ({A: 1}, {})
    settle(world, Random(0))
    assert all(core.is_empty() for core in world.cores.values())


def test_A8_no_other_message_opens_a_context() -> None:
    world = World()
    pass_id = PassId(world.context, A, world.cores[A].incarnation, 9, True, False)
    world.cores[C].engine.take(A, Mark(pass_id, ForwardId(C, world.cores[C].incarnation, 1)))
    assert world.cores[C].engine.contexts == {}


def test_A10_a_second_pass_is_refused_until_the_first_has_ended() -> None:
    world = World()
    loss = world.told(B, lambda: world.w[B] * 2.0) * 1.0
    pass_id = world.backward(A, world.context, [loss])
    while pass_id not in world.ended:
        with pytest.raises(PassRefused, match="already"):
            world.backward(A, world.context, [loss])
        world.do()
        if world.in_flight():
            world.deliver(world.in_flight()[0].id)
    world.backward(A, world.context, [loss * 1.0])
    with pytest.raises(ContextReleased):
        world.backward(C, world.context, [loss])


def test_A10_two_roots_that_collide_get_an_error_and_nobody_waits() -> None:
    outcomes = set()
    for seed in ORDERS:
        world = World()
        (there,) = world.sent(A, C, world.x * 1.0)
        (back,), (other,) = world.sent(C, A, there * 2.0), world.sent(C, B, there * 3.0)
        passes = [
            world.backward(A, world.context, [back], retain=True),
            world.backward(B, world.context, [other], retain=True),
        ]
        settle(world, Random(seed))
        faults = [world.ended[one].fault for one in passes]
        assert all(fault is None or fault.cause is Cause.BUSY for fault in faults)
        expected = sum(value for value, fault in zip((2.0, 3.0), faults, strict=True) if fault is None)
        assert world.seen(A).get(world.x, 0.0) == expected
        assert not any(world.in_pass(worker) for worker in (A, B, C))
        outcomes.add(tuple(fault is None for fault in faults))
    assert outcomes == {(False, False), (False, True), (True, False)}


def test_A12_a_gradient_of_an_older_pass_is_dropped() -> None:
    world = World()
    one, two = (world.told(B, lambda: world.w[B] * 1.0) for _ in range(2))
    first = world.backward(A, world.context, [one * 5.0 + two * 7.0], retain=True)
    world.do()
    world.time_out(first)
    second = world.backward(A, world.context, [one * 1.0 + two * 2.0], retain=True)
    world.do()
    gradients = [flight for flight in world.in_flight() if kinds_of(flight) is PropagateGradients]
    assert len(gradients) == 4
    for flight in (gradients[2], gradients[0], gradients[3], gradients[1]):
        world.deliver(flight.id)
        world.do()
    settle(world, Random(0))
    assert world.ended[second].fault is None
    assert world.seen(B) == {world.w[B]: 3.0}


def kinds_of(flight: object) -> type:
    return type(getattr(flight.message, "body", flight.message))  # type: ignore[attr-defined]


def test_A16_a_pass_that_fast_can_do_takes_no_message_more_in_smart() -> None:
    sent = []
    for smart in (False, True):
        world = World()
        loss = world.asked(B, lambda there: there * 5.0)
        before = len(world.log)
        world.backward(A, world.context, [loss * 1.0], smart=smart)
        settle(world, Random(1))
        sent.append([type(effect) for _, effect in world.log[before:]])
    assert sent[0] == sent[1]


def test_A16_a_gradient_that_comes_late_by_way_of_a_worker_that_waits_in_vain() -> None:
    for seed in ORDERS:
        world = World()
        world.sent(A, B)
        world.sent(A, C)
        (at_c,) = world.sent(B, C, world.w[B] * 2.0)
        (one,) = world.sent(C, A, at_c * 3.0)
        world.sent(C, A, at_c * 100.0)
        (two,) = world.sent(B, A, world.w[B] * 5.0)
        pass_id = world.backward(A, world.context, [one + two])
        settle(world, Random(seed), faults=5)
        assert world.ended[pass_id].fault is None
        assert world.seen(B) == {world.w[B]: 11.0}


def test_A16_the_root_asks_everybody_twice_and_marks_only_what_is_reached() -> None:
    world = World()
    world.told(B, lambda: world.w[B] * 1.0)
    loss = world.told(B, lambda: world.w[B] * 2.0) * 1.0
    world.backward(A, world.context, [loss])
    seen = []
    world.do()
    while world.in_flight():
        flight = world.in_flight()[0]
        seen.append(kinds_of(flight))
        world.deliver(flight.id)
        world.do()
    assert [seen.count(kind) for kind in (PropagateGradients, Seek, Mark, Resume, Commit)] == [1, 1, 0, 1, 1]


def test_A17_nothing_can_be_seen_before_the_commit() -> None:
    world = World()
    loss = world.told(B, lambda: world.w[B] * 2.0) * world.x
    pass_id = world.backward(A, world.context, [loss])
    world.do()
    world.let(PropagateGradients)
    assert world.seen(A) == world.seen(B) == {}
    world.let(Report)
    assert world.seen(B) == {}
    assert pass_id not in world.ended
    world.time_out(pass_id)
    assert pass_id not in world.ended
    settle(world, Random(0))
    assert world.ended[pass_id].fault is None
    assert (world.seen(A), world.seen(B)) == ({world.x: 6.0}, {world.w[B]: 4.0})


def test_A19_a_latecomer_is_told_that_the_pass_is_over() -> None:
    world = World()
    loss = world.told(B, lambda: world.w[B] * 2.0) * 1.0
    pass_id = world.backward(A, world.context, [loss])
    world.do()
    world.time_out(pass_id)
    fault = world.ended[pass_id].fault
    assert fault is not None
    assert fault.cause is Cause.TIMED_OUT
    assert world.ended[pass_id].late == (B,)
    assert Abort not in kinds(world)
    world.let(PropagateGradients)
    assert world.in_pass(B)
    world.let(Report)
    world.let(Abort)
    assert not world.in_pass(B)


def test_A24_a_release_in_the_middle_ends_the_pass_for_all() -> None:
    for seed in ORDERS:
        world = World()
        loss = world.asked(B, lambda there: there * 5.0)
        pass_id = world.backward(A, world.context, [loss * 1.0])
        world.do()
        world.release(A, world.context)
        fault = world.ended[pass_id].fault
        assert fault is not None
        assert fault.cause is Cause.RELEASED
        settle(world, Random(seed))
        assert all(core.is_empty() for core in world.cores.values())


def test_a_peer_that_speaks_of_nobody_is_refused() -> None:
    world = World()
    life = world.cores[A].incarnation
    stranger = ContextId(WorkerId(9), life, 1)
    call = ForwardCall(stranger, ForwardId(A, life, 1), 0, world.cores[A].call(B)[1][0].message)  # type: ignore[union-attr, arg-type]
    with pytest.raises(WireError):
        world.cores[B].receive(A, call)
    with pytest.raises(WireError):
        world.cores[B].engine.take(A, Seek(PassId(stranger, WorkerId(9), life, 1, True, False)))
    with pytest.raises(WireError, match="takes worker 9 for dead"):
        world.cores[B].engine.take(A, Forget(world.context, (WorkerId(9),)))


@pytest.mark.parametrize("dies_first", [True, False])
def test_A21_a_worker_that_only_the_dead_knew_of_is_told_to_close(dies_first: bool) -> None:
    world = World()
    world.sent(A, B)
    world.sent(B, C)
    if dies_first:
        world.kill(B)
        world.release(A, world.context)
    else:
        world.release(A, world.context)
        world.kill(B)
    settle(world, Random(0))
    assert all(core.is_empty() for core in world.cores.values())


def test_A21_who_forgets_takes_no_call_of_the_dead_any_more() -> None:
    world = World()
    world.sent(A, B)
    world.call(B, C, world.context, [])
    late = world.in_flight()[-1]
    world.perform(A, world.cores[A].peer_died(B, "it was killed"))
    world.release(A, world.context)
    for wanted in (CleanupContext, Closed, Forget):
        world.let(wanted)
    world.deliver(late.id)
    assert world.cores[C].engine.contexts == {}
    assert world.cores[A].engine.contexts == {}


def test_A21_a_pass_fails_with_its_creator() -> None:
    world = World()
    (there,) = world.sent(A, B, world.x)
    pass_id = world.backward(B, world.context, [there * 2.0])
    world.kill(A)
    fault = world.ended[pass_id].fault
    assert fault is not None
    assert (fault.cause, fault.worker) == (Cause.DIED, A)
    assert world.cores[B].is_empty()


def test_A21_who_lost_the_context_with_its_creator_says_that_the_creator_died() -> None:
    world = World()
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C])
    world.perform(C, world.cores[C].peer_died(A, "it was killed"))
    pass_id = world.backward(B, world.context, [there * 2.0])
    world.do()
    world.let(PropagateGradients)
    world.let(Report)
    fault = world.ended[pass_id].fault
    assert fault is not None
    assert (fault.cause, fault.worker) == (Cause.DIED, A)
