"""Whoever waits reads for all, and hears of what others have done."""

from __future__ import annotations

import select
import threading
import time

from farref.impl.futures import Future
from farref.impl.reactor import Reactor


def test_a_caller_that_reads_looks_again_when_somebody_else_settles_what_it_waits_for() -> None:
    def turn(_: float) -> None:
        assert poll.poll(10_000), "nobody roused the reader"

    reactor, poll = Reactor(turn, "test"), select.poll()
    poll.register(reactor.kick, select.POLLIN)
    future = Future(reactor)
    threading.Timer(0.05, future.set_result, [1]).start()
    assert future.wait(timeout=30) == 1
    assert reactor.stop()


def test_what_is_settled_while_nobody_reads_rouses_nobody() -> None:
    reactor = Reactor(time.sleep, "test")
    Future(reactor).set_result(1)
    poll = select.poll()
    poll.register(reactor.kick, select.POLLIN)
    assert not poll.poll(0)
    reactor.stop()
