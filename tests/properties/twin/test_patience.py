"""A busy machine: campaigns and waits last longer, and not without end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from farref.properties.twin import campaign as campaigns
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.backends.patience import LONGEST, is_exhausted, patience
from farref.properties.twin.campaign import ENOUGH, OVERTIME_MAX, campaign
from farref.properties.twin.tally import Tally

LOOKS = 3
"""How often a campaign looks at the clock for each schedule: before it, after it, and when it is counted."""


class SlowClock:
    """A clock on which every look takes as long as it says."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0

    def monotonic(self) -> float:
        self.now += self.seconds
        return self.now


@pytest.fixture
def each_schedule_takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    return lambda seconds: monkeypatch.setattr(campaigns, "time", SlowClock(seconds / LOOKS))


def test_time_alone_does_not_end_a_campaign_in_which_too_little_has_happened(
    each_schedule_takes: Callable[[float], None],
) -> None:
    each_schedule_takes(9.0)
    tally = campaign(ModelBackend, seed=1, seconds_max=10, protocol="rref")
    assert tally.never_fired == []
    assert 1 < tally.schedules < ENOUGH
    assert tally.overtime


def test_a_campaign_ends_with_its_time_where_enough_has_happened(each_schedule_takes: Callable[[float], None]) -> None:
    each_schedule_takes(0.1)
    tally = campaign(ModelBackend, seed=1, seconds_max=10, protocol="rref")
    assert 10 <= tally.seconds < 10.5
    assert not tally.overtime


@pytest.fixture
def _a_fault_never_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tally, "never_fired", ["dropped"])


@pytest.mark.usefixtures("_a_fault_never_happens")
def test_after_enough_schedules_nothing_more_is_waited_for(each_schedule_takes: Callable[[float], None]) -> None:
    each_schedule_takes(0.2)
    assert campaign(ModelBackend, seed=1, seconds_max=1, protocol="rref").schedules == ENOUGH


@pytest.mark.usefixtures("_a_fault_never_happens")
def test_a_slow_campaign_ends_too(each_schedule_takes: Callable[[float], None]) -> None:
    each_schedule_takes(3.0)
    tally = campaign(ModelBackend, seed=1, seconds_max=1, protocol="rref")
    assert tally.seconds >= OVERTIME_MAX > tally.seconds - 3.0


@pytest.mark.parametrize(("load", "expected"), [(0.1, 20.0), (1.0, 20.0), (3.0, 60.0), (1000.0, 20.0 * LONGEST)])
def test_waits_last_longer_where_the_machine_is_busy(
    monkeypatch: pytest.MonkeyPatch, load: float, expected: float
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (4 * load, 0.0, 0.0))
    assert patience(20.0) == pytest.approx(expected)


def test_a_machine_that_does_not_say_how_busy_it_is_is_taken_for_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert patience(5.0) == 5.0


def test_a_wait_that_began_long_ago_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert is_exhausted(time.monotonic() - 100, 20.0)
    assert not is_exhausted(time.monotonic() + 100, 20.0)
