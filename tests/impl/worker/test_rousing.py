"""Whoever reads is roused for what is queued, every time. A peer that takes nothing in, or is declared dead, keeps nobody."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from farref.impl import PeerDied, launch, rpc_sync
from farref.impl.autograd import backward, context
from farref.impl.tape import tensor
from farref.impl.transport.streams import Transport
from farref.impl.worker import reactor
from farref.impl.worker.lines import FEW_CALLS
from farref.impl.worker.process import current
from farref.impl.worker.reactor import Reactor
from tests.impl.far import autograd as far_autograd
from tests.impl.far import faults as far_faults
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.unthreaded import A, B, Pair, turn


def test_a_reader_is_roused_again_although_it_wrote_before_it_was_roused(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader writes what was queued before its caller rouses it. That must not look as if it were still to come."""
    a, _ = pair
    monkeypatch.setattr(Reactor, "is_reading", True)
    for _ in range(FEW_CALLS + 1):
        a.call("B", far.echo, [1], {}, None)
    a.intake.turn(0.0)
    hand_over = a.lines.hand_over
    monkeypatch.setattr(a.lines, "hand_over", lambda *given: (a.flush(), hand_over(*given)))
    a.call("B", far.echo, [2], {}, None)
    a.intake.turn(0.0)
    assert not a.connections[B].roused


def test_a_result_that_is_left_to_others_rouses_the_reader(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may take the task that it waits for, and keep it."""
    a, _ = pair
    monkeypatch.setattr(Reactor, "is_busy", True)
    a.connections[B].queue([b"result"])
    a.lines.write_results()
    assert not a.connections[B].roused, "nobody reads: whoever reads next writes first"
    monkeypatch.setattr(Reactor, "is_reading", True)
    a.lines.write_results()
    assert a.connections[B].roused
    a.intake.turn(0.0)
    assert not a.connections[B].outbox


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_R34_who_is_declared_dead_hears_of_it_at_once(transport: Transport) -> None:
    """The other end would wait for answers that nobody will read, with a timeout of 0 for ever."""
    with launch(["A", "B"], allow=[far.__name__, far_faults.__name__], transport=transport, rpc_timeout=20):
        rpc_sync("A", far_faults.declare_dead, ["B"])
        with pytest.raises(PeerDied):
            rpc_sync("B", far_faults.call_for_ever, ["A"])


def test_a_user_that_takes_nothing_in_does_not_fill_the_memory_of_the_owner(
    pair: Pair,
) -> None:
    a, b = pair
    b.connections[A].queued_bytes_max = 2**20
    reference = a.remote("B", far.echo, [np.zeros(2**18, np.uint8)], {}, None)
    turn(b)
    a.intake.turn(0.0)
    futures = [a.fetch(reference.reference, None) for _ in range(60)]
    a.flush()
    for _ in range(20):
        turn(b)
    assert b.connections[A].queued_bytes() < 2 * 2**20
    while not all(future.done() for future in futures):
        a.intake.turn(0.0)
        b.intake.turn(0.06)
        turn(b)
    assert {future.value().nbytes for future in futures} == {2**18}


def test_a_root_in_line_is_woken_for_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread reads what comes for it, and goes on reading."""
    monkeypatch.setattr(reactor, "LINE_S", 3600.0)
    was_woken, ended = threading.Event(), threading.Event()

    def train(reading: threading.Thread) -> None:
        x = tensor(2.0, requires_grad=True)
        with context() as context_id:
            loss = rpc_sync("A", far_autograd.double, [x])
            reading.start()
            eventually(lambda: current().reactor._reader == reading.ident)
            backward(context_id, [loss])
        was_woken.set()

    with launch(["A"], allow=[far_autograd.__name__]):
        reading = threading.Thread(target=current().reactor.serve_until, args=(ended.is_set, time.monotonic() + 3600))
        training = threading.Thread(target=train, args=[reading], daemon=True)
        training.start()
        came = was_woken.wait(10)
        ended.set()
        training.join(10)
        reading.join(10)
    assert came
