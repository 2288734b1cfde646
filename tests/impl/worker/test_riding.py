"""What nobody waits for rides with what somebody does; and it leaves all the same if there is nothing to ride with.

Two workers without threads: what a worker would do by itself is done here, one thing after the other.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

from farref.impl import launch, rpc_sync
from farref.impl.api import current
from farref.impl.core.ids import UserReference
from farref.impl.functions import name_of
from farref.impl.rref import RRef
from farref.impl.worker.connection import LATER, NOW, SOON
from farref.impl.worker.intake import TICK_S
from farref.impl.worker.perform import QUICK_S
from farref.impl.worker.worker import Worker
from tests.impl.far import references as far
from tests.impl.worker.unthreaded import A, B, Pair, do_tasks


def is_confirmed(worker: Worker, reference: UserReference) -> bool:
    worker.intake.turn(0.0)
    return worker.is_confirmed(reference)


@pytest.mark.parametrize("runs", [True, False], ids=["by whoever runs the function", "by a caller that only reads"])
def test_the_answer_to_a_creation_rides_with_what_its_function_brings(pair: Pair, runs: bool) -> None:
    a, b = pair
    b.performer._quick.add(name_of(far.echo))
    rref = a.remote("B", far.echo, [1], {}, None)
    a.flush()
    b.reactor._leading = runs
    b.intake.turn(0.0)
    assert isinstance(rref.reference, UserReference)
    assert is_confirmed(a, rref.reference) is not runs
    assert b.connections[A].hurry == (SOON if runs else LATER)
    do_tasks(b)
    assert is_confirmed(a, rref.reference)


def test_it_does_not_wait_for_a_function_that_takes_long_for_once(pair: Pair) -> None:
    a, b = pair
    b.performer._quick.add(name_of(far.echo))
    rref = a.remote("B", far.echo, [1], {}, None)
    a.flush()
    b.reactor._leading = True
    b.intake.turn(0.0)
    b.intake.turn(0.0)  # by the lookout, before the function has ended
    assert isinstance(rref.reference, UserReference)
    assert is_confirmed(a, rref.reference)


def test_it_does_not_wait_for_a_function_that_may_take_long(pair: Pair) -> None:
    a, b = pair
    rref = a.remote("B", far.echo, [1], {}, None)
    a.flush()
    b.reactor._leading = True
    b.intake.turn(0.0)
    assert isinstance(rref.reference, UserReference)
    assert is_confirmed(a, rref.reference)


def test_what_was_quick_and_what_was_not(pair: Pair) -> None:
    a, b = pair
    slow, quick = ("slow", [2 * QUICK_S]), ("echo", [1])
    for name, args in (slow, quick):
        a.call("B", f"tests.impl.far.references:{name}", args, {}, None)
        b.intake.turn(0.0)
    do_tasks(b)
    assert name_of(far.slow) not in b.performer._quick
    b.performer._quick.add(name_of(far.slow))
    a.call("B", far.slow, [2 * QUICK_S], {}, None)
    a.call("B", "nobody:knows", [], {}, None)
    b.intake.turn(0.0)
    do_tasks(b)
    assert b.performer._quick <= {name_of(far.echo)}


def test_a_delete_waits_for_a_tick_at_most(pair: Pair) -> None:
    a, b = pair
    rref = a.remote("B", far.echo, [1], {}, None)
    a.flush()
    b.intake.turn(0.0)
    do_tasks(b)
    assert isinstance(rref.reference, UserReference)
    assert is_confirmed(a, rref.reference)
    del rref
    gc.collect()
    with a.lock:
        a.perform([])
    a.flush()
    assert a.connections[B].outbox
    assert a.connections[B].hurry == LATER
    a.intake._tick(a.core.here.now + TICK_S)
    assert a.connections[B].hurry == NOW
    a.flush()
    b.intake.turn(0.0)
    assert not b.core.owner.entries


def test_a_delete_leaves_with_the_result_of_the_function_that_had_the_reference(pair: Pair) -> None:
    a, b = pair
    own = a.create_local(RRef.unbound(), 1)
    future = a.call("B", far.confirmed, [own], {}, None)
    b.reactor._leading = True
    b.intake.turn(0.0)
    do_tasks(b)
    a.intake.turn(0.0)
    assert future.done()
    (entry,) = a.core.owner.entries.values()
    assert not entry.forks


def test_a_view_is_returned_with_the_result_that_was_made_of_it() -> None:
    array = np.ones(1_000_000, np.uint8)
    with launch(["B"], allow=["tests.impl.far.references"]):
        for _ in range(3):
            rpc_sync("B", far.echo, [array])
            arena = current().arena
            assert arena is not None
            assert not arena.lent
