"""Passes and contexts among members (A29): whoever is lost ends its passes, and the next pass without it is right."""

from __future__ import annotations

import pytest

from farref.impl.core.autograd.messages import Cause, CleanupContext, Closed, Commit, Forget, PropagateGradients, Report
from farref.impl.core.ids import WorkerId
from farref.impl.core.views import View
from farref.impl.errors import PassExcluded
from farref.impl.values.failures import failure_of
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C, under_way


def rest(world: World) -> None:
    """Let everything arrive and be worked on."""
    world.do()
    while world.deliverable():
        world.deliver(world.deliverable()[0].id)
        world.do()


def chained(world: World) -> WorkerId:
    """A's loss depends on B's result, and that on C's. B has sent its gradient on, and reported so."""
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C] * 2.0)
    (result,) = world.sent(B, A, there * 3.0)
    world.backward(A, world.context, [result])
    world.do()
    world.let(PropagateGradients, B)
    world.let(Report, A)
    return C


@pytest.mark.parametrize("goes_on", [True, False])
def test_A29_a_lost_worker_ends_its_passes_with_an_error_that_names_it(goes_on: bool) -> None:
    world = World()
    lost = chained(world)
    if not goes_on:
        world.end(lost)
    world.exclude(lost)
    rest(world)
    ((_, ended),) = world.ended.items()
    assert ended.fault is not None
    assert (ended.fault.cause, ended.fault.worker) == (Cause.DIED, C)
    assert not world.in_pass(B)
    assert world.seen(B) == {}


def test_A29_the_next_pass_without_it_is_right() -> None:
    world = World()
    world.exclude(chained(world))
    rest(world)
    world.context = world.open_context(A)
    loss = world.told(B, lambda: world.w[B] * 5.0)
    run = world.backward(A, world.context, [loss])
    rest(world)
    assert world.ended[run].fault is None
    assert world.seen(B) == {world.w[B]: 5.0}


def test_A29_a_silent_peer_is_waited_for_and_a_broken_link_costs_no_gradient() -> None:
    """C3 of spec/members.md, and what becomes of it if a broken link is no death."""
    world = World()
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C] * 2.0)
    run = world.backward(B, world.context, [there])
    world.do()
    world.let(PropagateGradients, C)
    world.let(Report, B)
    assert under_way(world, Commit, C) is not None
    world.cut(B, C)
    rest(world)
    assert run not in world.ended
    world.mend(B, C)
    rest(world)
    assert world.ended[run].fault is None
    assert world.seen(C) == {world.w[C]: 2.0}


def test_A29_a_context_is_forgotten_where_its_creators_view_is_installed() -> None:
    """Otherwise what the lost one had sent could open it again."""
    world = World()
    world.sent(A, B)
    world.call(B, C, world.context, [])
    late = world.in_flight()[-1]
    world.exclude(B)
    world.release(A, world.context)
    for wanted in (CleanupContext, Closed, Forget):
        world.let(wanted)
    assert list(world.cores[C].engine.contexts) == [world.context]
    world.deliver(late.id)
    world.deliver(under_way(world, View, C))
    assert world.cores[C].engine.contexts == {}
    rest(world)
    assert world.cores[A].engine.contexts == {}
    assert world.cores[C].engine.contexts == {}


@pytest.mark.parametrize("is_decided", [True, False])
def test_A29_a_root_that_learns_that_it_is_excluded_raises_and_counts_nobody_as_committed(is_decided: bool) -> None:
    """Its Commit comes after the other worker has excluded it: that one has left the pass, and has no gradient."""
    world = World()
    world.sent(A, B)
    world.sent(A, C)
    (there,) = world.sent(C, B, world.w[C] * 2.0)
    run = world.backward(B, world.context, [there])
    world.do()
    world.let(PropagateGradients, C)
    if is_decided:
        world.let(Report, B)
    world.exclude(B)
    world.deliver(under_way(world, View, C))
    rest(world)
    assert world.cores[B].here.fenced is not None
    assert world.seen(C) == {}
    fault = world.ended[run].fault
    assert fault is not None
    assert (fault.cause, fault.worker) == (Cause.DIED, B)
    assert isinstance(failure_of(world.ended[run], {}), PassExcluded)
    assert not [one for one in world.in_flight() if one.source == B]
