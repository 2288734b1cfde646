"""A mistake that model and implementation share is found: the two agree, and a property is violated."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.shrink import shrink
from farref.properties.twin.twin import Disagreement
from farref.properties.twin.worlds import WORLDS
from farref.properties.zoo.mutants.shared import AUTOGRAD_MISTAKES, RREF_MISTAKES, Shared

pytestmark = pytest.mark.long

MISTAKES = (*RREF_MISTAKES, *AUTOGRAD_MISTAKES)
MAKES: dict[str, Any] = {"rref": SimulatedBackend, "autograd": SimulatedAutograd}
PATIENT = settings(
    max_examples=2000,
    stateful_step_count=40,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)

each_mistake = pytest.mark.parametrize("shared", MISTAKES, ids=[one.name for one in MISTAKES])


@each_mistake
def test_fuzz_finds_it(shared: Shared) -> None:
    make = MAKES[shared.protocol]
    with shared.made():
        tally = campaign(make, seed=1, seconds_max=120, protocol=shared.protocol)
        assert tally.disagreement is not None, "model and implementation agree, and nobody notices"
        assert tally.schedule is not None
        backend = make(restless=tally.schedule.restless)
        shortest = shrink(tally.disagreement, backend, seconds_max=5)
        assert shortest.is_shared, shortest
        assert len(shortest.story) == len(shortest.actions)
    assert all(f"{one.property} ({one.clause}) is violated for {one.about}" in str(one) for one in shortest.violated)


@each_mistake
def test_hypothesis_finds_it(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    if shared.world is not None:
        monkeypatch.setitem(WORLDS, shared.protocol, lambda _: st.just(asdict(shared.world)))
    fixed = type("Fixed", (MAKES[shared.protocol],), {"fixed": dict.fromkeys(shared.without, 0)})
    with shared.made(), pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(twin_machine(fixed), settings=PATIENT)
    assert caught.value.is_shared, caught.value
