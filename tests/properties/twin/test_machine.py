"""Hypothesis drives model and implementation together: no disagreement is found, and where there is one, it shrinks."""

from __future__ import annotations

import unittest
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.statistics import collector

from farref.model.checker.interface import Kind
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import decode
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.keys import KEYS, Keys
from farref.properties.twin.machine import TwinMachine, twin_machine
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.zoo.catalogue import RREF_MUTANTS

QUICK = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
FINDING = settings(
    QUICK, stateful_step_count=50, max_examples=300, derandomize=True, phases=(Phase.generate,), print_blob=False
)
SHRINKING = settings(FINDING, phases=(Phase.generate, Phase.shrink), max_examples=200)

each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)


def found_by(machine: type[TwinMachine], how: settings) -> Disagreement:
    with pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(machine, settings=how)
    return caught.value


def test_the_implementation_agrees() -> None:
    run_state_machine_as_test(twin_machine(SimulatedBackend), settings=QUICK)


def test_a_disagreement_is_found_and_shrunk() -> None:
    with RREF_MUTANTS["creator_is_not_counted"].alive():
        found = found_by(twin_machine(SimulatedBackend), SHRINKING)
    assert [str(action) for action in found.actions] == ["CreateRemote(x0, A)", "Deliver(RemoteCall(f0))"]


@each_protocol
def test_few_examples_are_wasted(protocol: AnyProtocol) -> None:
    seen, known = list[Any](), cast(Any, collector)
    with known.with_value(seen.append):
        run_state_machine_as_test(
            twin_machine(ModelBackend, protocol.name), settings=settings(FINDING, max_examples=100)
        )
    [run] = seen
    statuses = Counter(case["status"] for case in run["generate-phase"]["test-cases"])
    assert statuses["valid"] == 100
    assert statuses.total() < 100 / 0.8


SAMPLE = [
    ("rref", "parent_waits_for_children"),
    ("rref", "retries_until_answered"),  # seen as soon as something is to be sent again
    ("rref", "fetch_pins_user"),
    ("rref", "entry_waits_for_creation"),
    ("autograd", "retries_until_answered"),
    ("autograd", "takes_effect_once"),
]
"""Rules without which a backend is found out soon; `bench/machine.py` measures all of them."""


@pytest.mark.parametrize(("protocol", "rule"), SAMPLE)
def test_a_backend_without_a_rule_is_found_out(protocol: str, rule: str) -> None:
    rules = PROTOCOLS[protocol].rules_of("sound", rule)
    assert found_by(twin_machine(lambda: ModelBackend(rules), protocol), FINDING).actions


# -- keys --------------------------------------------------------------------------------------------------------------


@each_protocol
def test_every_key_is_a_possible_step_until_nothing_can_happen(protocol: AnyProtocol) -> None:
    twin = Twin(protocol.broadest, ModelBackend())
    keys, key = Keys(protocol.broadest, 7), 1
    while (action := keys.step(key, twin.world)) is not None:
        twin.step(action)
        key = (key * 5 + 1) % KEYS
    assert not twin.enabled()


@each_protocol
def test_key_0_ends_a_run_without_harm(protocol: AnyProtocol) -> None:
    twin = Twin(protocol.draw_bounds(protocol.draw(1, 1, {}).random(), {"drops": 2, "duplicates": 2}), ModelBackend())
    keys = Keys(twin.model.bounds)
    while (action := keys.step(0, twin.world)) is not None and len(twin.actions) < 1000:
        twin.step(action)
    twin.check_end()


def test_a_key_means_the_same_step_when_another_has_become_possible() -> None:
    """Else nothing could be shrunk: to leave out a step would change all that follow."""
    bounds = PROTOCOLS["rref"].bounds(rrefs=2)
    alone, beside, keys = Twin(bounds, ModelBackend()), Twin(bounds, ModelBackend()), Keys(bounds, 3)
    alone.step(alone.named("CreateRemote(x0, A)"))
    for label in ("CreateRemote(x0, A)", "CreateLocal(x1)"):
        beside.step(beside.named(label))
    same = [keys.step(key, alone.world) == keys.step(key, beside.world) for key in range(1, 200)]
    assert sum(same) > 60


def test_a_patient_run_makes_the_creation_that_it_keeps_back_and_does_not_fail_it() -> None:
    bounds = PROTOCOLS["rref"].bounds(failures=2)
    keeping = [
        keys for temper in range(1, 99) if temper % 4 and "RemoteCall" in (keys := Keys(bounds, temper)).candidates.late
    ]
    for keys in keeping:
        twin, key = Twin(bounds, ModelBackend()), 1
        while "Deliver(RemoteCall(f0))" not in map(str, twin.actions) and (action := keys.step(key, twin.world)):
            assert not str(action).startswith(("CreateLocal", "CreateOnSelf"))
            assert str(action) != "FailCall(RemoteCall(f0))" or len(twin.enabled()) == 2, (
                "it is that, or that it arrives"
            )
            twin.step(action)
            key = (key * 5 + 1) % KEYS
    assert len(keeping) > 30


# -- the machine -------------------------------------------------------------------------------------------------------


@each_protocol
def test_every_property_that_must_always_hold_is_an_invariant(protocol: AnyProtocol) -> None:
    always = {one.id for one in protocol.properties(protocol.broadest) if one.kind is Kind.ALWAYS}
    assert {
        one.function.__name__ for one in twin_machine(ModelBackend, protocol.name).setup_state().invariants
    } == always


def test_the_machine_of_each_backend_has_a_name_of_its_own() -> None:
    """Hypothesis keeps examples by this name."""
    machines = (twin_machine(SimulatedBackend), twin_machine(lambda: ModelBackend(), "autograd"))
    assert [one.__name__ for one in machines] == ["SimulatedBackendMachine", "AutogradMachine"]


def test_what_is_printed_can_be_taken_again() -> None:
    state = twin_machine(SimulatedBackend)()
    state.start(bounds={"workers": 2, "forks": 1}, restless=True)
    state.take(step="CreateRemote(x0, A)")
    with pytest.raises(ValueError, match="nothing is called 'Pray"):
        state.take(step="Pray(f0)")
    state.teardown()
    assert not state.twin.enabled()


class Counted(ModelBackend):
    """Knows how many of it were made and closed."""

    made, closed = 0, 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1

    def close(self) -> None:
        type(self).closed += 1


def test_one_backend_serves_all_examples_and_is_closed_at_the_end() -> None:
    case = twin_machine(Counted, "rref").TestCase
    case.settings = settings(QUICK, max_examples=5)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    assert unittest.TextTestRunner().run(suite).wasSuccessful()
    assert (Counted.made, Counted.closed) == (1, 1)


def test_what_was_found_is_saved_and_says_what_differed(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    with RREF_MUTANTS["creator_is_not_counted"].alive():
        found = found_by(twin_machine(SimulatedBackend, save=place), SHRINKING)
    saved = decode(place.read_bytes())
    assert [step.action for step in saved.steps] == [str(action) for action in found.actions]
    assert saved.disagreement is not None
    assert saved.disagreement.difference == found.lines
    assert saved.disagreement.backend == "simulated"


def test_it_is_saved_before_it_is_shrunk(tmp_path: Path) -> None:
    """Whoever stops Hypothesis while it shrinks still has what was found."""
    place = tmp_path / "found.json"

    class Stopping(SimulatedBackend):
        patience = 3

        def start(self, bounds: Any) -> None:
            self.patience -= place.exists()
            if self.patience < 0:
                raise KeyboardInterrupt
            super().start(bounds)

    with RREF_MUTANTS["creator_is_not_counted"].alive(), pytest.raises(KeyboardInterrupt):
        run_state_machine_as_test(twin_machine(Stopping, save=place), settings=SHRINKING)
    assert decode(place.read_bytes()).disagreement is not None
