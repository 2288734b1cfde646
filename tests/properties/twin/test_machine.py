"""Hypothesis drives model and implementation together: no disagreement is found, and where there is one, it shrinks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.twin import Disagreement
from farref.properties.zoo.catalogue import RREF_MUTANTS

QUICK = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def test_the_implementation_agrees() -> None:
    run_state_machine_as_test(twin_machine(SimulatedBackend), settings=QUICK)


def test_a_disagreement_is_found_and_shrunk() -> None:
    quick = settings(
        QUICK, phases=(Phase.generate, Phase.shrink), max_examples=200, derandomize=True, report_multiple_bugs=False
    )
    with RREF_MUTANTS["creator_is_not_counted"].alive(), pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(twin_machine(SimulatedBackend), settings=quick)
    assert [str(action) for action in caught.value.actions] == ["CreateRemote(x0, A)", "Deliver(RemoteCall(f0))"]
