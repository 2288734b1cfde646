"""Whoever waits reads for all, and hears of what others have done. A bell wakes it, whoever rings and however often."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable

import pytest

from farref.impl.worker import reactor as module
from farref.impl.worker.futures import Future
from farref.impl.worker.reactor import FAREWELL_S, Reactor
from farref.impl.worker.waiting import Bell


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


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.001)


def test_a_caller_takes_the_role_that_was_given_back_just_before_it_stood_in_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever gave it back saw nobody in line, and tells nobody. No time limit may be needed to find that out."""
    monkeypatch.setattr(module, "TURN_S", 3600.0)
    read = threading.Event()
    reactor = Reactor(lambda _: read.set(), "test")

    class Line(deque[Bell]):
        def append(self, bell: Bell) -> None:
            reactor._role.release()
            reactor._pass_on()
            super().append(bell)

    reactor._callers, reactor._role = Line(), threading.Lock()  # which another thread may give back
    assert reactor._role.acquire(blocking=False)
    given = (read.is_set, time.monotonic() + 3600, Bell)
    caller = threading.Thread(target=reactor.serve_until, args=given, daemon=True)
    caller.start()
    caller.join(30)
    assert read.is_set()
    os.close(reactor.kick)


def test_whoever_leaves_tells_the_next_in_line_that_the_role_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody is in line nobody in the background takes the role: without word of it all would stand still."""
    monkeypatch.setattr(module, "LINE_S", 3600.0)
    readers: set[int | None] = set()

    def turn(_: float) -> None:
        readers.add(threading.get_ident())
        time.sleep(0.001)

    reactor = Reactor(turn, "test")
    first_is_done, second_is_done = threading.Event(), threading.Event()
    first, second = (
        threading.Thread(target=reactor.serve_until, args=(done.is_set, time.monotonic() + 3600, Bell), daemon=True)
        for done in (first_is_done, second_is_done)
    )
    first.start()
    wait_until(lambda: reactor._reader == first.ident)
    second.start()
    wait_until(lambda: len(reactor._callers) == 1)
    time.sleep(0.05)  # it has looked at the role, and sleeps
    first_is_done.set()
    wait_until(lambda: second.ident in readers)
    second_is_done.set()
    second.join(30)
    assert reactor.stop()


def test_the_lookout_sleeps_while_a_caller_waits_for_long_and_somebody_reads_after_it() -> None:
    done = threading.Event()

    def turn(seconds: float) -> None:
        if poll.poll(seconds * 1000):
            os.eventfd_read(reactor.kick)

    reactor, poll = Reactor(turn, "test"), select.poll()
    poll.register(reactor.kick, select.POLLIN)
    reactor.begin()
    caller = threading.Thread(target=reactor.serve_until, args=(done.is_set, time.monotonic() + 600, Bell))
    caller.start()
    wait_until(lambda: reactor._reader == caller.ident)
    wait_until(lambda: reactor._standbys == 2 and not reactor._lookouts)
    done.set()
    reactor.look_again()
    caller.join(30)
    wait_until(lambda: reactor._leading)
    assert reactor.stop()


def test_R32_a_caller_that_sleeps_in_line_leaves_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINE_S", 3600.0)
    reactor = Reactor(time.sleep, "test")
    assert reactor._role.acquire(blocking=False)
    given = (lambda: False, time.monotonic() + 3600, Bell)
    caller = threading.Thread(target=reactor.serve_until, args=given, daemon=True)
    caller.start()
    wait_until(lambda: bool(reactor._callers))
    reactor._role.release()
    reactor.stop()
    caller.join(30)
    assert not caller.is_alive()


def test_what_was_rung_before_is_heard_once() -> None:
    bell = Bell()
    assert not bell.wait(0.001)
    bell.ring()
    bell()
    assert bell.wait(0.001)
    assert not bell.wait(0.001)


def test_a_hushed_bell_was_not_rung() -> None:
    bell = Bell()
    bell.ring()
    bell.hush()
    assert not bell.wait(0.001)
    bell.ring()
    assert bell.wait(-1)


def test_rings_of_many_threads_never_fail_and_none_is_lost() -> None:
    """Two that ring at once give one lock back twice. What the last of them did before it rang is seen by who has waited."""
    bell, rung, ringers = Bell(), [0] * 4, range(4)

    def ring(me: int) -> None:
        for _ in range(2000):
            rung[me] += 1
            bell.ring()

    threads = [threading.Thread(target=ring, args=(me,)) for me in ringers]
    for thread in threads:
        thread.start()
    while sum(rung) < 8000:
        assert bell.wait(60.0), "a ring was lost"
    for thread in threads:
        thread.join(60)
    assert sum(rung) == 8000
