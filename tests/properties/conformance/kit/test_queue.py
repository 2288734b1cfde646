"""Checks that are handed out to several threads keep the order that they need."""

from __future__ import annotations

import threading
from dataclasses import replace

from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.queue import CheckQueue
from farref.properties.conformance.kit.suite import gathered

SOME = next(iter(gathered().values()))


def check(name: str, *after: str) -> Check:
    return replace(SOME, id=name, after=after)


def test_a_check_waits_for_those_it_comes_after() -> None:
    queue = CheckQueue([check("a"), check("b", "a"), check("c")])
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert (first.id, second.id) == ("a", "c")
    taken: list[Check | None] = []
    waiting = threading.Thread(target=lambda: taken.append(queue.take()))
    waiting.start()
    assert not taken
    queue.done(first)
    waiting.join(10)
    assert [one.id for one in taken if one] == ["b"]
    assert queue.take() is None


def test_nobody_waits_for_a_check_that_is_not_asked_for_or_comes_later() -> None:
    queue = CheckQueue([check("a", "z", "b"), check("b")])
    assert [one.id for one in (queue.take(), queue.take()) if one] == ["a", "b"]


def test_whoever_waits_is_told_to_stop() -> None:
    queue = CheckQueue([check("a"), check("b", "a")])
    queue.take()
    taken: list[Check | None] = []
    waiting = threading.Thread(target=lambda: taken.append(queue.take()))
    waiting.start()
    queue.stop()
    waiting.join(10)
    assert taken == [None]
    assert queue.is_stopped
