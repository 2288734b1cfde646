"""Views beside the model: excluded workers go on, are refused, buried, and come back, and tables agree after every step."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.machine import twin_machine
from farref.properties.zoo.catalogue import CRASH_MUTANTS

BOUNDS: dict[str, dict[str, Any]] = {
    "one": {"exclusions": 1},
    "owners": {"exclusions": 1, "lost_owners": True},
    "two, and one comes back": {"exclusions": 2, "workers": 4, "joins": 1},
}
BROKEN = ExitStack()
"""What is broken in a process until it ends."""
DECIDED_BY_THE_SCHEDULE = {"not_everybody_has_to_settle", "those_who_are_left_suffice"}
"""When a view is buried is the model's decision here. The crash points find these."""
NOT_HERE = {"the_fence_is_ignored", "passes_outlive_the_lost"}
"""A zombie is never told here, and there are no passes."""


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_model_and_implementation_agree(fixed: dict[str, Any]) -> None:
    tally = campaign(SimulatedBackend, seed=1, schedules_max=60, fixed=fixed)
    assert tally.disagreement is None
    assert tally.never_fired == []
    assert tally.faults["excluded"]
    assert tally.faults["buried"]


def test_model_and_processes_agree_in_every_such_world() -> None:
    tallies = [campaign(ProcessesBackend, seed=1, schedules_max=4, fixed=fixed) for fixed in BOUNDS.values()]
    assert [tally.disagreement for tally in tallies] == [None] * len(BOUNDS)
    assert all(tally.faults["excluded"] and tally.faults["buried"] for tally in tallies)


def test_a_call_that_waits_for_a_lost_owner_fails_within_the_step() -> None:
    """Its caller hears of that through a real stream, and the step is over when it has."""
    tally = campaign(ProcessesBackend, seed=1, first=14, schedules_max=1, fixed=BOUNDS["owners"])
    assert tally.disagreement is None


def test_R37_a_refusal_of_somebody_excluded_is_not_taken() -> None:
    """B owned what A shares with C. C knows that B is lost, and says so; A hears of it when C is excluded too."""
    bounds = {"exclusions": 2, "cuts": 2, "workers": 4, "lost_owners": True}
    tally = campaign(SimulatedBackend, seed=31, first=3978, schedules_max=1, fixed=bounds)
    assert tally.disagreement is None


def test_a_rule_that_processes_break_is_found() -> None:
    make = partial(ProcessesBackend, prepare=_break_a_rule)
    tally = campaign(make, seed=2, schedules_max=3, fixed=BOUNDS["one"], protocol="rref")
    assert tally.disagreement is not None


def _break_a_rule() -> None:
    BROKEN.enter_context(CRASH_MUTANTS["forks_are_released_at_once"].alive())


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_hypothesis_finds_no_difference(fixed: dict[str, Any]) -> None:
    machine = twin_machine(type("Viewed", (SimulatedBackend,), {"fixed": fixed}))
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=40, deadline=None))


@pytest.mark.parametrize("name", sorted({*CRASH_MUTANTS} - DECIDED_BY_THE_SCHEDULE - NOT_HERE))
def test_every_rule_that_a_worker_can_break_is_found(name: str) -> None:
    worlds = sorted(BOUNDS.values(), key=len, reverse=True)
    with CRASH_MUTANTS[name].alive():
        tallies = (campaign(SimulatedBackend, seed=2, schedules_max=150, fixed=fixed) for fixed in worlds)
        assert any(tally.disagreement is not None for tally in tallies)
