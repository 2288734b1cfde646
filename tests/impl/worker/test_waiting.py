"""A reader watches before it sleeps, as long as that pays."""

from __future__ import annotations

import os
import select
import time
from itertools import count, pairwise, takewhile
from typing import Any

import pytest

from farref.impl.worker import waiting
from farref.impl.worker.waiting import CROWDED_MAX, CROWDED_MIN, LOST_S, VAIN_MAX, Waiting

SOMETHING = [(3, 1)]


class Poller:
    """Has something to tell at once, or only to those who sleep."""

    def __init__(self) -> None:
        self.is_quick = True
        self.asked: list[float] = []

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        """Look, or sleep."""
        self.asked.append(seconds)
        return SOMETHING if self.is_quick or seconds else []


@pytest.fixture
def poller(monkeypatch: pytest.MonkeyPatch) -> Poller:
    monkeypatch.setattr(waiting, "WATCH_S", 0.0)
    return Poller()


def waits(reader: Waiting, poller: Poller, times: int) -> list[bool]:
    """Wait so many times; say each time whether it watched."""
    watched = []
    for _ in range(times):
        poller.asked.clear()
        assert reader.wait(1.0) == SOMETHING
        watched.append(0 in poller.asked)
    return watched


def test_where_answers_come_quickly_it_soon_always_watches(poller: Poller) -> None:
    reader = Waiting(poller)  # type: ignore[arg-type]
    assert waits(reader, poller, VAIN_MAX) == VAIN_MAX * [False]
    waits(reader, poller, VAIN_MAX)
    assert waits(reader, poller, 100) == 100 * [True]


def test_where_they_do_not_it_soon_hardly_watches_at_all(poller: Poller) -> None:
    reader = Waiting(poller)  # type: ignore[arg-type]
    waits(reader, poller, 2 * VAIN_MAX)
    poller.is_quick = False
    assert waits(reader, poller, 10) == [True, False, True, False, False, False, True, False, False, False]
    waits(reader, poller, 4 * VAIN_MAX)
    assert sum(waits(reader, poller, 10 * (VAIN_MAX + 1))) == 10


def test_one_late_answer_costs_little(poller: Poller) -> None:
    reader = Waiting(poller)  # type: ignore[arg-type]
    waits(reader, poller, 2 * VAIN_MAX)
    poller.is_quick = False
    waits(reader, poller, 1)
    poller.is_quick = True
    assert waits(reader, poller, 4) == [False, True, True, True]


def test_it_waits_no_longer_than_it_is_told() -> None:
    with select.epoll() as nothing:
        reader = Waiting(nothing)
        for _ in range(2 * (VAIN_MAX + 1)):
            assert reader.wait(0.0) == []


def test_it_watches_no_longer_than_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WATCH_S", 3600.0)
    poller = Poller()
    poller.is_quick = False
    reader = Waiting(poller)  # type: ignore[arg-type]
    for _ in range(VAIN_MAX + 1):
        assert reader.wait(0.01) == SOMETHING
    assert 0 in poller.asked


class Core:
    """A core that is away for some time whenever it is yielded, on a clock that stands still otherwise."""

    def __init__(self, away_s: float) -> None:
        self.away_s, self.now, self.yields = away_s, 0.0, 0

    def sched_yield(self) -> None:
        """Let others have it."""
        self.yields += 1
        self.now += self.away_s

    def monotonic(self) -> float:
        """Tell the time. Looking takes some, so that every watch ends."""
        self.now += 1e-6
        return self.now


def yielded(monkeypatch: pytest.MonkeyPatch, away_s: float, times: int) -> list[int]:
    """Watch in vain so many times, each time awake; say in which of them the core was yielded."""
    core, reader = Core(away_s), Waiting(_nothing())
    monkeypatch.setattr(os, "sched_yield", core.sched_yield)
    monkeypatch.setattr(time, "monotonic", core.monotonic)
    found = []
    for number in range(times):
        before = core.yields
        reader._asleep = 0
        reader.wait(1.0)
        if core.yields > before:
            found.append(number)
    return found


def _nothing() -> Any:
    poller = Poller()
    poller.is_quick = False
    return poller


def test_who_watches_yields_where_the_core_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert yielded(monkeypatch, 1e-5, 300) == list(range(300))


def test_a_core_that_strangers_keep_is_yielded_seldom_and_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = yielded(monkeypatch, 2 * LOST_S, 40_000)
    pauses = [later - sooner - 1 for sooner, later in pairwise(tries)]
    grown = list(takewhile(lambda pause: pause < CROWDED_MAX, (CROWDED_MIN * 4**step for step in count())))
    assert pauses == [*grown, CROWDED_MAX, CROWDED_MAX][: len(pauses)]
    assert len(pauses) > len(grown)
