"""Answers to control messages gather and leave in one frame; the release of a context waits for something to ride with.

Two workers without threads: what a worker would do by itself is done here, one thing after the other.
"""

from __future__ import annotations

import time

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.autograd.messages import CleanupContext, Forget
from farref.impl.core.channel import FIRST
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Control
from farref.impl.transport.frames import Acks, read_body, read_header
from farref.impl.values.tensors import Passage
from farref.impl.worker.connection import ANSWERS, LATER, NOW
from farref.impl.worker.intake import TICK_S
from farref.impl.worker.worker import Worker
from tests.impl.worker.unthreaded import A, B, Pair


def release(worker: Worker) -> ContextId:
    """Let a worker call another in a context, and release the context."""
    context = worker.core.engine.open_context()
    passage = Passage(context, "echo", True, ())
    with worker.lock:
        _, effects = worker.core.call(B, "tests.impl.far.references:echo", (), b"\x92\x90\x80", passage)
        worker.perform(effects)
    worker.flush()
    worker.perform(worker.core.engine.release(context))
    return context


def frames(worker: Worker, peer: WorkerId) -> list[object]:
    """What is queued for a peer."""
    return [read_body(bytes(piece)[8:]) for piece in worker.connections[peer].outbox if read_header(bytes(piece))]


def cleanups(worker: Worker) -> int:
    """How many requests to close a context have no answer yet."""
    return sum(isinstance(body, CleanupContext) for _, _, body, _ in worker.core.channel.unanswered())


def test_A25_a_release_waits_for_something_to_ride_with(pair: Pair) -> None:
    a, b = pair
    context = release(a)
    assert [type(frame).__name__ for frame in frames(a, B)] == ["Control"]
    assert a.connections[B].hurry == LATER
    b.intake.turn(0.0)
    assert context in b.core.engine.contexts
    a.intake._next_tick = 0.0
    a.intake.turn(0.0)
    b.intake.turn(0.0)
    assert b.core.engine.contexts[context].is_open, "nobody waits for it: first the worker does what others wait for"
    b.intake.turn(0.0)
    assert not b.core.engine.contexts[context].is_open


def test_R6_answers_leave_together_with_a_tick(pair: Pair) -> None:
    a, b = pair
    for _ in range(3):
        release(a)
    a.flush(hurry=LATER)
    for _ in range(2):  # to read what has come, and to let it take effect
        b.intake.turn(0.0)
    assert cleanups(a) == 3
    assert not [frame for frame in frames(b, A) if isinstance(frame, Acks)]
    b.intake._next_tick = 0.0
    b.intake._tick(TICK_S)
    (acks,) = (frame for frame in frames(b, A) if isinstance(frame, Acks))
    assert len(acks.answers) == 3
    b.flush()
    a.intake.turn(0.0)
    assert not cleanups(a)


def test_R6_answers_leave_when_there_are_enough(pair: Pair) -> None:
    a, b = pair
    for _ in range(ANSWERS):
        release(a)
    a.flush(hurry=LATER)
    for _ in range(2):
        b.intake.turn(0.0)
    b.flush(hurry=LATER)
    a.intake.turn(0.0)
    assert not cleanups(a)


def test_R6_whoever_rested_answers_with_a_tick_that_is_not_a_rare_one(pair: Pair) -> None:
    a, b = pair
    for _ in range(3):
        b.intake._next_tick = 0.0
        b.intake.turn(0.0)
    assert b.intake._pace > TICK_S, "it has nothing to do, and looks at the time rarely"
    release(a)
    a.flush(hurry=LATER)
    b.intake.turn(0.0)
    assert b.intake._pace == TICK_S
    assert b.intake._next_tick <= time.monotonic() + TICK_S


def test_R6_whoever_rested_does_so_too_when_only_a_release_has_come(pair: Pair) -> None:
    a, b = pair
    context = a.core.engine.open_context()
    for _ in range(3):
        b.intake._next_tick = 0.0
        b.intake.turn(0.0)
    a.connections[B].queue_message(Control(a.core.incarnation, FIRST, FIRST, CleanupContext(context)), NOW)
    a.flush()
    b.intake.turn(0.0)
    assert b.arrivals.put_off
    assert b.intake._pace == TICK_S


def test_R34_a_release_that_is_nothing_ends_its_peer_although_it_was_put_off(pair: Pair) -> None:
    a, b = pair
    nobody = Forget(a.core.engine.open_context(), (WorkerId(7),))
    a.connections[B].queue_message(Control(a.core.incarnation, FIRST, FIRST, nobody), NOW)
    a.flush()
    b.intake.turn(0.0)
    assert A not in b.core.dead
    b.intake.turn(0.0)
    assert "takes worker 7 for dead" in b.core.dead[A]
