"""The twins over real processes: the implementation as it is agrees too, on every step, and its processes live on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backends.known import BACKENDS
from farref.properties.twin.backends.pool import Pool, WorkerCrashed
from farref.properties.twin.backends.rref.driven_application import DrivenApplication
from farref.properties.twin.campaign import campaign, take_schedule
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.tally import Tally
from tests.properties.twin.steps import pids

SCHEDULES: Final = 40
FEW = settings(
    max_examples=6, stateful_step_count=25, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module", params=PROTOCOLS)
def warm(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """A protocol, and a backend whose processes live as long as this module's tests."""
    backend = BACKENDS[request.param]["processes"]()
    yield request.param, backend
    backend.close()


def test_real_processes_agree_on_every_step_and_are_the_same_all_along(warm: tuple[str, Any]) -> None:
    name, backend = warm
    tally, known = Tally(PROTOCOLS[name], 7, {}), set[int]()
    for number in range(SCHEDULES):
        tally.add(take_schedule(tally.protocol.draw(7, number, {}), backend, tally.reached))
        known |= set(pids(backend))
    assert tally.disagreement is None, str(tally.disagreement)
    assert tally.never_fired == []
    assert len(known) == 4
    simulated = campaign(BACKENDS[name]["simulated"], seed=7, schedules_max=SCHEDULES, protocol=name)
    assert (tally.trace_hash, tally.steps, tally.faults) == (simulated.trace_hash, simulated.steps, simulated.faults)


def test_hypothesis_drives_real_processes(warm: tuple[str, Any]) -> None:
    name, backend = warm
    run_state_machine_as_test(twin_machine(lambda: backend, name), settings=FEW)


def test_workers_that_do_not_start_leave_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(WorkerCrashed):
        Pool(2, _end, DrivenApplication)
    assert list(tmp_path.glob("farref-pool-*")) == []


def _end() -> None:
    os._exit(3)
