"""The twin of distributed autograd over real processes: the implementation as it is agrees too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from farref.model.autograd.actions import Action
from farref.model.autograd.world import Bounds
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.campaign import campaign, take_schedule
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.shrink import shrink
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Twin
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS

SCHEDULES = 40
FEW = settings(
    max_examples=4, stateful_step_count=25, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def warm() -> Iterator[AutogradProcesses]:
    """A backend whose processes live as long as this module's tests."""
    backend = AutogradProcesses()
    yield backend
    backend.close()


def pids(backend: AutogradProcesses) -> list[int]:
    assert backend.pool is not None
    return [child.process.pid for child in backend.pool.children]


def steps(twin: Twin, *labels: str) -> None:
    known: dict[str, Action] = {str(action): action for action in twin.model.actions}
    for label in labels:
        twin.step(known[label])


def test_real_processes_agree_on_every_step_and_are_the_same_all_along(warm: AutogradProcesses) -> None:
    tally, known = Tally(AUTOGRAD, 7, {}), set[int]()
    for number in range(SCHEDULES):
        tally.add(take_schedule(AUTOGRAD.draw(7, number, {}), warm, tally.reached))
        known |= set(pids(warm))
    assert tally.disagreement is None, str(tally.disagreement)
    assert tally.never_fired == []
    assert len(known) == 4
    simulated = campaign(SimulatedAutograd, seed=7, schedules_max=SCHEDULES, protocol="autograd")
    assert (tally.trace_hash, tally.steps, tally.faults) == (simulated.trace_hash, simulated.steps, simulated.faults)


def test_hypothesis_drives_real_processes(warm: AutogradProcesses) -> None:
    run_state_machine_as_test(twin_machine(lambda: warm, "autograd"), settings=FEW)


def test_a_run_that_was_left_in_the_middle_leaves_nothing(warm: AutogradProcesses) -> None:
    bounds = Bounds("there-and-back", forward=True, release=True, crashes=1)
    left = Twin(bounds, warm)
    steps(left, "SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)")
    steps(left, "Deliver(ForwardCall(pair 1))", "Backward(A)", "Crash(B)", "Notice(A, B is dead)")
    again = Twin(bounds, warm)
    again.finish()


def make_a_mistake() -> None:
    """Commit late, in this process, for good."""
    AUTOGRAD_MUTANTS["a_worker_commits_late"].let_loose()


def test_a_mistake_in_real_processes_is_found_and_shrunk() -> None:
    backend = AutogradProcesses(prepare=make_a_mistake)
    try:
        dones = (take_schedule(AUTOGRAD.draw(1, number, {}), backend, set()) for number in range(50))
        found = next(done.disagreement for done in dones if done.disagreement is not None)
        shortest = shrink(found, backend)
    finally:
        backend.close()
    assert len(shortest.actions) <= len(found.actions)
    assert any(line.startswith("processes ") for line in shortest.lines), str(shortest)
