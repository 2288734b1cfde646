"""The twin of RRefs over real processes: what is let in, what is left, what dies, and what is found."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from farref.impl.core.ids import WorkerId
from farref.model.rref.world import Bounds
from farref.properties.rref.protocol import RREF
from farref.properties.twin.backends.rref.driven_application import DrivenApplication
from farref.properties.twin.backends.rref.processes import ProcessesBackend
from farref.properties.twin.campaign import take_schedule
from farref.properties.twin.shrink import shrink
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.zoo.catalogue import RREF_MUTANTS
from tests.properties.twin.steps import pids, steps

B = WorkerId(1)


@pytest.fixture(scope="module")
def warm() -> Iterator[ProcessesBackend]:
    """A backend whose processes live as long as this module's tests."""
    backend = ProcessesBackend()
    yield backend
    backend.close()


def test_a_message_arrives_only_when_it_is_let_in(warm: ProcessesBackend) -> None:
    twin = Twin(Bounds(2, forks=1), warm)
    steps(twin, "CreateRemote(x0, A)")
    assert warm.pool is not None
    for _ in range(20):
        warm.pool.ask(B, DrivenApplication.rest)
    assert warm.observe() == twin.observation
    assert [one.kind for one in warm.observe().flying] == ["RemoteCall"]
    steps(twin, "Deliver(RemoteCall(f0))")
    assert warm.observe().workers[B].entries[0].value == "created"


def test_a_run_that_was_left_in_the_middle_leaves_nothing(warm: ProcessesBackend) -> None:
    bounds = Bounds(3, rrefs=2, forks=3, fetches=1, results=True)
    left = Twin(bounds, warm)
    steps(left, "CreateRemote(x0, A)", "CreateOnSelf(x1)", "UserShare(f0, C, Return)", "FetchValue(f0)")
    steps(left, "Deliver(Return(f1))", "Deliver(RemoteCall(f0))")
    again = Twin(bounds, warm)
    assert again.observation.is_empty
    again.finish()


def make_a_mistake() -> None:
    """Forget the creator, in this process, for good."""
    RREF_MUTANTS["creator_is_not_counted"].let_loose()


def test_a_mistake_in_real_processes_is_found_and_shrunk() -> None:
    backend = ProcessesBackend(prepare=make_a_mistake)
    try:
        done = next(
            done
            for number in range(50)
            if (done := take_schedule(RREF.draw(1, number, {}), backend, set())).disagreement
        )
        assert done.disagreement is not None
        shortest = shrink(done.disagreement, backend)
    finally:
        backend.close()
    shown = [str(action) for action in shortest.actions]
    assert shown == ["CreateRemote(x0, A)", "Deliver(RemoteCall(f0))"], str(shortest)
    assert "processes  B owns x0: value created, running yes" in str(shortest)


def test_a_process_that_dies_is_a_disagreement_and_is_replaced() -> None:
    backend = ProcessesBackend()
    try:
        twin = Twin(Bounds(2, forks=1), backend)
        before = pids(backend)
        steps(twin, "CreateRemote(x0, A)")
        os.kill(before[B], signal.SIGKILL)
        with pytest.raises(Disagreement, match="process of worker 1 has ended"):
            steps(twin, "Deliver(RemoteCall(f0))")
        again = Twin(Bounds(2, forks=1), backend)
        assert not set(before) & set(pids(backend))
        again.finish()
    finally:
        backend.close()


def test_nothing_is_left_behind() -> None:
    backend = ProcessesBackend()
    backend.start(Bounds(5, forks=1))
    assert backend.pool is not None
    directory, started = backend.pool.directory, backend.pool.children
    assert len(started) == 5
    backend.close()
    assert not Path(directory).exists()
    assert all(child.process.exitcode is not None for child in started)
