"""Whoever waits reads for all, and hears of what others have done."""

from __future__ import annotations

import select
import threading
import time

from farref.impl.worker.futures import Future
from farref.impl.worker.reactor import FAREWELL_S, Reactor


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


def test_R32_after_the_end_nobody_reads() -> None:
    """A caller of another thread has the role, and gives it back before what it reads from is closed."""
    began, inside = threading.Event(), threading.Event()

    def turn(seconds: float) -> None:
        inside.set()
        began.set()
        time.sleep(seconds)
        inside.clear()

    reactor = Reactor(turn, "test")
    waiting = threading.Thread(target=lambda: reactor.serve_until(lambda: False, time.monotonic() + 60))
    waiting.start()
    assert began.wait(30)
    assert reactor.stop()
    assert not inside.is_set()
    assert not reactor._role.acquire(blocking=False), "somebody could still read"
    waiting.join(30)
    assert not waiting.is_alive()


def test_R32_threads_that_do_not_end_are_waited_for_together() -> None:
    waits: list[float] = []

    class Blocked(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            waits.append(timeout or 0.0)
            time.sleep(timeout or 0.0)

        def is_alive(self) -> bool:
            return True

    reactor = Reactor(time.sleep, "test")
    reactor._threads = [Blocked() for _ in range(50)]
    assert not reactor.stop()
    assert (len(waits), sum(waits) <= FAREWELL_S) == (50, True)
