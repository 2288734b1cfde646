"""A reader watches before it sleeps, as long as that pays."""

from __future__ import annotations

import select

import pytest

from farref.impl.worker import waiting
from farref.impl.worker.waiting import VAIN_MAX, Waiting

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


def waits(reader: Waiting, poller: Poller, count: int) -> list[bool]:
    """Wait so many times; say each time whether it watched."""
    watched = []
    for _ in range(count):
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
