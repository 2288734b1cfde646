"""Schedules: drawn from a seed, and from everything that can happen."""

from __future__ import annotations

import os

import pytest

from farref.model.rref.world import Bounds
from farref.properties.protocols import sound_model
from farref.properties.rref.candidates import RRefCandidates
from farref.properties.rref.protocol import RREF
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.candidates import LATE
from farref.properties.twin.stepper import Stepper


@pytest.mark.parametrize("number", range(60))
def test_everything_that_can_happen_is_a_candidate(number: int) -> None:
    schedule = RREF.draw(11, number, {})
    model = sound_model(schedule.bounds)
    candidates = RRefCandidates(model, schedule.late)
    stepper, world, met = Stepper(schedule, schedule.random()), model.initial, 0
    while (action := stepper.draw(world)) is not None:
        listed = {one for sort in RREF.sorts for one in candidates.of(sort, world)}
        enabled = {one for one in model.actions if model.step(world, one) is not None}
        assert enabled <= listed
        met += len(enabled)
        after = model.step(world, action)
        assert after is not None
        world = after
    assert met
    assert not any(model.step(world, one) for one in model.actions)


def test_a_late_kind_is_delivered_late_only() -> None:
    bounds = Bounds(2, forks=1)
    model = sound_model(bounds)
    candidates = RRefCandidates(model, ("RemoteCall",))
    created = next(one for one in model.actions if str(one) == "CreateRemote(x0, A)")
    world = model.step(model.initial, created)
    assert world is not None
    assert candidates.of("deliver", world) == []
    assert [str(one) for one in candidates.of(LATE, world)] == ["Deliver(RemoteCall(f0))"]


def test_several_processes_take_the_same_schedules() -> None:
    alone = campaign(SimulatedBackend, seed=5, first=3, schedules_max=21)
    shared = campaign(SimulatedBackend, seed=5, first=3, schedules_max=21, jobs=2)
    assert (alone.trace_hash, alone.schedules, alone.steps) == (shared.trace_hash, shared.schedules, shared.steps)
    assert (alone.faults, alone.sometimes) == (shared.faults, shared.sometimes)


class Broken(SimulatedBackend):
    """A backend that cannot be started."""

    def start(self, bounds: Bounds) -> None:
        raise RuntimeError(f"no {bounds.workers} workers today")


class Deadly(SimulatedBackend):
    """A backend that ends the process it is in."""

    def start(self, bounds: Bounds) -> None:
        os._exit(bounds.workers)


def test_a_process_that_ends_is_told_of() -> None:
    with pytest.raises(ChildProcessError, match="has ended"):
        campaign(Deadly, seed=5, schedules_max=8, jobs=2)


def test_an_error_in_a_process_is_told_of_with_its_place() -> None:
    with pytest.raises(RuntimeError, match=r"no \d workers today") as told:
        campaign(Broken, seed=5, schedules_max=8, jobs=2)
    assert any("in start" in note for note in told.value.__notes__)
