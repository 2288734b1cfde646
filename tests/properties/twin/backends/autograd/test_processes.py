"""The twin of distributed autograd over real processes: what is left in the middle, and what is found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.model.autograd.world import Bounds
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.twin.backends.autograd.processes import AutogradProcesses
from farref.properties.twin.campaign import take_schedule
from farref.properties.twin.shrink import shrink
from farref.properties.twin.twin import Twin
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS
from tests.properties.twin.steps import steps


@pytest.fixture(scope="module")
def warm() -> Iterator[AutogradProcesses]:
    """A backend whose processes live as long as this module's tests."""
    backend = AutogradProcesses()
    yield backend
    backend.close()


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
