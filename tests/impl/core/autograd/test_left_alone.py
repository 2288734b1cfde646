"""What the engine leaves alone: what is about no context and no pass that it has, what is over, and deaths of strangers.

Hardly any of it happens while every peer is right. Each test is about a guard of the engine that few schedules need
(`properties/zoo/mutants/guards.py` takes them out one at a time).
"""

from __future__ import annotations

from random import Random

import pytest

from farref.impl.core.autograd.effects import TakeForDead, Work
from farref.impl.core.autograd.engine import Engine
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.messages import (
    CleanupContext,
    Closed,
    EngineBody,
    Forget,
    Seek,
    Settled,
)
from farref.impl.core.core import Core
from farref.impl.core.effects import Send
from farref.impl.core.ids import FIRST_LIFE, FetchId, ForkId, RRefId, WorkerId
from farref.impl.core.messages import Control, FetchCall, ForwardCall
from farref.impl.errors import ContextReleased, WireError
from tests.impl.core.autograd.programs import settle
from tests.impl.core.autograd.world import World
from tests.impl.core.simulation import A, B, C, under_way

D = WorkerId(3)
UNKNOWN = ContextId(A, FIRST_LIFE, 77)


def bodies(effects: list[object]) -> list[object]:
    """What is told to others by some effects."""
    controls = [one.message for one in effects if isinstance(one, Send) and isinstance(one.message, Control)]
    return [control.body for control in controls]


def told(core: Core, source: WorkerId, body: EngineBody) -> list[object]:
    """Let a control message take effect; give what is told to others then."""
    core.engine.take(source, body)
    return bodies(list(core.taken()))


def is_over(world: World) -> bool:
    """Let everything arrive; say whether nothing is left of any context or pass."""
    settle(world, Random(0))
    return all(core.is_empty() for core in world.cores.values())


def pass_of(context: ContextId, root: WorkerId, number: int = 9) -> PassId:
    return PassId(context, root, FIRST_LIFE, number, True, False)


def running(world: World) -> PassId:
    """A's pass, which waits for B, and B for C. Gradients are under way to B."""
    (there,) = world.sent(A, B, world.x)
    (further,) = world.sent(B, C, there * 2.0)
    (back,) = world.sent(C, B, further * 3.0)
    (result,) = world.sent(B, A, back * 5.0)
    pass_id = world.backward(A, world.context, [result])
    world.do()
    return pass_id


# -- contexts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [Closed(UNKNOWN, {A: 1}, {}, {}), Settled(UNKNOWN, A, B), Forget(UNKNOWN, ())])
def test_A25_an_account_of_a_context_that_is_forgotten_changes_nothing(body: EngineBody) -> None:
    core = World().cores[A]
    before = set(core.engine.contexts)
    assert told(core, B, body) == []
    assert set(core.engine.contexts) == before


def test_A25_an_account_of_a_context_that_is_not_released_changes_nothing() -> None:
    world = World()
    assert told(world.cores[A], B, Settled(world.context, A, B)) == []
    assert told(world.cores[A], B, Closed(world.context, {A: 1}, {}, {})) == []


def test_A25_a_call_that_fails_in_an_open_context_is_accounted_for_once() -> None:
    world = World()
    world.call(A, B, world.context, [world.x])
    world.fail(under_way(world, ForwardCall))
    world.release(A, world.context)
    assert is_over(world)


def test_A21_a_call_that_fails_after_its_context_went_with_its_creator_is_nobodys() -> None:
    world = World()
    world.sent(A, B)
    world.call(B, C, world.context, [])
    call = world.take(under_way(world, ForwardCall)).message
    assert isinstance(call, ForwardCall)
    core = world.cores[B]
    core.peer_died(A, "it was killed")
    core.carrier_failed(C, call, "its link is gone")
    assert core.is_empty()


def test_A24_a_context_is_released_where_it_was_made_only() -> None:
    world = World()
    world.sent(A, B)
    with pytest.raises(ContextReleased, match="on worker 0"):
        world.release(B, world.context)
    assert world.cores[B].engine.contexts[world.context].is_open


def test_A24_a_context_is_closed_once() -> None:
    core = World().cores[B]
    assert [type(one) for one in told(core, A, CleanupContext(UNKNOWN))] == [Closed]
    assert told(core, A, CleanupContext(UNKNOWN)) == []


def test_A24_everybody_is_told_to_close_once() -> None:
    world = World()
    world.sent(A, B)
    world.sent(B, C)
    world.sent(C, B)
    world.release(A, world.context)
    assert is_over(world)
    assert sum(type(one) is CleanupContext for one in bodies([effect for _, effect in controls(world)])) == 2


def controls(world: World) -> list[tuple[WorkerId, object]]:
    """Every control message that was sent for the first time, with its sender."""
    sent = [(who, one) for who, one in world.log if isinstance(one, Send) and hasattr(one.message, "body")]
    return [(who, one) for who, one in sent if hasattr(one.message, "lowest")]


def test_A29_a_context_is_kept_until_all_are_unheard_whom_its_creator_does_not_hear() -> None:
    core = Core(C, [A, B, C, D])
    core.engine.take(A, CleanupContext(UNKNOWN))
    core.engine.take(A, Forget(UNKNOWN, (B, D)))
    taken = [effect for effect in core.taken() if isinstance(effect, TakeForDead)]
    assert [effect.worker for effect in taken] == [B, D]
    core.peer_died(B, "it was killed")
    assert UNKNOWN in core.engine.contexts
    core.peer_died(D, "it was killed")
    assert core.engine.contexts == {}


def test_A29_a_context_is_forgotten_at_once_if_its_dead_are_known_here() -> None:
    core = Core(C, [A, B, C, D])
    core.peer_died(B, "it was killed")
    core.engine.take(A, CleanupContext(UNKNOWN))
    core.engine.take(
        A, Forget(UNKNOWN, (B, C))
    )  # the creator does not hear C itself either: that is no reason to keep it
    assert core.engine.contexts == {}
    assert [effect for effect in core.taken() if isinstance(effect, TakeForDead)] == []


def test_A29_whom_a_creator_does_not_hear_is_named_though_its_context_is_not_here() -> None:
    core = Core(C, [A, B, C])
    core.engine.take(A, Forget(UNKNOWN, (B,)))
    assert [type(effect) for effect in core.taken()] == [TakeForDead]
    assert core.engine.contexts == {}


# -- fetches within a context ------------------------------------------------------------------------------------------


def asked(world: World) -> ForwardCall:
    """A's fetch in its context, as B is asked for it."""
    rref, fork = RRefId(B, FIRST_LIFE, 5), ForkId(A, FIRST_LIFE, 6)
    return ForwardCall(world.context, ForwardId(A, FIRST_LIFE, 8), 0, FetchCall(rref, fork, FetchId(1)))


def test_A9_a_fetch_that_is_refused_is_not_remembered() -> None:
    world = World()
    core = world.cores[B]
    core.engine.take(A, CleanupContext(world.context))
    core.receive(A, asked(world))
    assert core.engine.fetching == {}


def test_A21_the_fetches_of_the_dead_are_forgotten_and_those_of_others_are_not() -> None:
    world = World()
    core = world.cores[B]
    core.receive(A, asked(world))
    assert list(core.engine.fetching) == [(A, FetchId(1))]
    core.peer_died(C, "it was killed")
    assert list(core.engine.fetching) == [(A, FetchId(1))]
    core.peer_died(A, "it was killed")
    assert core.engine.fetching == {}


def test_A8_a_call_is_of_the_worker_that_sends_it() -> None:
    world = World()
    with pytest.raises(WireError, match="claims to have made"):
        world.cores[B].receive(C, asked(world))


# -- the end -----------------------------------------------------------------------------------------------------------


def test_R32_whoever_leaves_releases_what_it_made_once() -> None:
    world = World()
    world.sent(A, B)
    other = world.cores[B].engine.open_context()
    world.release(A, world.context)
    for worker in (A, B):
        world.perform(worker, world.cores[worker].let_go_of_everything())
    assert not world.cores[B].engine.contexts[other].is_open if other in world.cores[B].engine.contexts else True
    assert is_over(world)


def test_an_engine_is_empty_without_contexts_and_passes_only() -> None:
    world = World()
    engine: Engine = world.cores[A].engine
    assert not engine.is_empty()
    assert world.cores[B].engine.is_empty()
    running(world)
    engine.contexts.clear()
    assert not engine.is_empty()


def test_A12_a_question_engages_nobody() -> None:
    world = World()
    world.sent(A, B)
    world.cores[B].engine.take(A, Seek(pass_of(world.context, A)))
    assert [effect for effect in world.cores[B].taken() if isinstance(effect, Work)] == []
    assert not world.in_pass(B)
