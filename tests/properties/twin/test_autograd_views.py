"""Views and broken links beside the model of distributed autograd (A29): contexts and passes agree after every step."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.campaign import campaign
from farref.properties.twin.machine import twin_machine
from farref.properties.zoo.catalogue import CRASH_MUTANTS
from tests.properties.twin.broken import BROKEN, write_wrongly_again

BOUNDS: dict[str, dict[str, Any]] = {
    "one": {"exclusions": 1},
    "links": {"cuts": 2},
    "two, and links": {"exclusions": 2, "cuts": 2, "workers": 4},
}
ABOUT_PASSES = ("passes_outlive_the_lost", "the_fence_is_ignored", "the_excluded_are_heard")


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_model_and_implementation_agree(fixed: dict[str, Any]) -> None:
    tally = campaign(SimulatedAutograd, seed=1, schedules_max=60, fixed=fixed)
    assert tally.disagreement is None
    assert tally.never_fired == []


def test_a_call_to_somebody_excluded_goes_nowhere() -> None:
    tally = campaign(SimulatedAutograd, seed=1407, first=590, schedules_max=1, fixed={"exclusions": 1, "cuts": 1})
    assert tally.disagreement is None


def test_model_and_processes_agree_in_every_such_world() -> None:
    tallies = [campaign(AutogradProcesses, seed=1, schedules_max=2, fixed=fixed) for fixed in BOUNDS.values()]
    assert [tally.disagreement for tally in tallies] == [None] * len(BOUNDS)
    assert all(tally.faults["excluded"] or tally.faults["cut"] for tally in tallies)


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_hypothesis_finds_no_difference(fixed: dict[str, Any]) -> None:
    machine = twin_machine(type("Viewed", (SimulatedAutograd,), {"fixed": fixed}))
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=40, deadline=None))


@pytest.mark.parametrize("name", ABOUT_PASSES)
def test_every_rule_about_passes_that_a_worker_can_break_is_found(name: str) -> None:
    with CRASH_MUTANTS[name].alive():
        tally = campaign(SimulatedAutograd, seed=2, schedules_max=100, fixed=BOUNDS["one"], protocol="autograd")
    assert tally.disagreement is not None


def test_a_rule_that_processes_break_is_found() -> None:
    make = partial(AutogradProcesses, prepare=_break_a_rule)
    tally = campaign(make, seed=2, schedules_max=6, fixed=BOUNDS["one"], protocol="autograd")
    assert tally.disagreement is not None


def _break_a_rule() -> None:
    BROKEN.enter_context(CRASH_MUTANTS["the_fence_is_ignored"].alive())


@pytest.mark.parametrize(
    ("mistake", "told"), [("a frame is lost", "lost with its stream"), ("a frame comes twice", "more often")]
)
def test_a_mistake_in_what_is_written_again_is_found_between_processes(mistake: str, told: str) -> None:
    make = partial(AutogradProcesses, prepare=partial(write_wrongly_again, mistake))
    tally = campaign(make, seed=2, schedules_max=20, fixed=BOUNDS["links"], protocol="autograd")
    assert told in str(tally.disagreement)


def test_A21_of_several_dead_workers_the_one_with_the_smallest_id_is_named() -> None:
    """The root hears of both before its pass begins, and finds both when it reports to itself."""
    bounds = {"exclusions": 1, "cuts": 1}
    tally = campaign(SimulatedAutograd, seed=20261119, first=12797, schedules_max=1, fixed=bounds)
    assert tally.disagreement is None
