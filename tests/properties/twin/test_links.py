"""Links of RRefs that break beside the model and are mended (R36): nothing is lost or comes twice, and tables agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from farref.impl.core.ids import WorkerId
from farref.impl.simulated.network import InFlight, Simulation
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.machine import twin_machine
from farref.properties.zoo.catalogue import CRASH_MUTANTS
from tests.properties.twin.broken import BROKEN, write_wrongly_again

BOUNDS: dict[str, dict[str, Any]] = {
    "links": {"cuts": 2},
    "one, and a link": {"exclusions": 1, "cuts": 1},
    "owners, and links": {"exclusions": 1, "cuts": 3, "lost_owners": True},
    "two, one comes back, and links": {"exclusions": 2, "workers": 4, "joins": 1, "cuts": 2},
}


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_model_and_implementation_agree(fixed: dict[str, Any]) -> None:
    tally = campaign(SimulatedBackend, seed=1, schedules_max=60, fixed=fixed)
    assert tally.disagreement is None
    assert tally.never_fired == []
    assert tally.faults["cut"]
    assert tally.faults["mended"]


def test_model_and_processes_agree_in_every_such_world() -> None:
    tallies = [campaign(ProcessesBackend, seed=1, schedules_max=4, fixed=fixed) for fixed in BOUNDS.values()]
    assert [tally.disagreement for tally in tallies] == [None] * len(BOUNDS)
    assert all(tally.faults["cut"] and tally.faults["mended"] for tally in tallies)


@pytest.mark.parametrize("fixed", BOUNDS.values(), ids=BOUNDS)
def test_hypothesis_finds_no_difference(fixed: dict[str, Any]) -> None:
    machine = twin_machine(type("Cut", (SimulatedBackend,), {"fixed": fixed}))
    run_state_machine_as_test(machine, settings=settings(max_examples=8, stateful_step_count=40, deadline=None))


def test_between_processes_a_call_that_does_not_run_is_heard_of_before_it_is_missed() -> None:
    """What says so carries no fork and comes by itself; on a broken link, after it is mended (R43)."""
    fixed = {"exclusions": 2, "cuts": 3, "lost_owners": True, "workers": 4}
    assert campaign(ProcessesBackend, seed=0, first=318, schedules_max=1, fixed=fixed).disagreement is None
    whole = {"exclusions": 2, "lost_owners": True, "workers": 4}
    assert campaign(ProcessesBackend, seed=0, first=142, schedules_max=1, fixed=whole).disagreement is None


def test_what_says_that_a_call_does_not_run_is_not_lost_with_a_link() -> None:
    """It waits for a link that is mended after everything else has ended."""
    fixed = {"exclusions": 2, "cuts": 3, "lost_owners": True, "workers": 4}
    assert campaign(SimulatedBackend, seed=0, first=318, schedules_max=1, fixed=fixed).disagreement is None


# -- mistakes ----------------------------------------------------------------------------------------------------------


def lose_one(network: Simulation, waiting: list[InFlight]) -> None:
    """Lose one of the messages that waited."""
    network.take(waiting[0].id)


def bring_one_twice(network: Simulation, waiting: list[InFlight]) -> None:
    """Let one of the messages that waited arrive twice."""
    network._sent += 1
    one = waiting[0]
    network._in_flight[network._sent] = InFlight(network._sent, one.source, one.target, one.message)


@pytest.mark.parametrize("mistake", [lose_one, bring_one_twice])
def test_a_mending_that_loses_or_repeats_is_found(
    mistake: Callable[[Simulation, list[InFlight]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Simulation.mend

    def mend(network: Simulation, one: WorkerId, other: WorkerId) -> None:
        right(network, one, other)
        waiting = [flight for flight in network.in_flight() if {flight.source, flight.target} == {one, other}]
        if waiting:
            mistake(network, waiting)

    monkeypatch.setattr(Simulation, "mend", mend)
    tally = campaign(SimulatedBackend, seed=2, schedules_max=100, fixed=BOUNDS["one, and a link"])
    assert tally.disagreement is not None
    assert any(type(action).__name__ == "Mend" for action in tally.disagreement.actions)


def test_an_excluded_worker_that_is_let_through_is_found() -> None:
    with CRASH_MUTANTS["the_excluded_are_heard"].alive():
        tally = campaign(SimulatedBackend, seed=2, schedules_max=100, fixed=BOUNDS["one, and a link"])
    assert tally.disagreement is not None


@pytest.mark.parametrize(
    ("mistake", "told"), [("a frame is lost", "lost with its stream"), ("a frame comes twice", "more often")]
)
def test_a_mistake_in_what_is_written_again_is_found_between_processes(mistake: str, told: str) -> None:
    make = partial(ProcessesBackend, prepare=partial(write_wrongly_again, mistake))
    tally = campaign(make, seed=2, schedules_max=20, fixed=BOUNDS["one, and a link"], protocol="rref")
    assert told in str(tally.disagreement)


def test_an_excluded_worker_that_is_let_through_is_found_between_processes() -> None:
    make = partial(ProcessesBackend, prepare=_hear_the_excluded)
    tally = campaign(make, seed=2, schedules_max=30, fixed=BOUNDS["one, and a link"], protocol="rref")
    assert tally.disagreement is not None


def _hear_the_excluded() -> None:
    BROKEN.enter_context(CRASH_MUTANTS["the_excluded_are_heard"].alive())
