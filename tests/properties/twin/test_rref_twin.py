"""Model and implementation take every step together: they agree, and where they would not, the twin says so."""

from __future__ import annotations

import msgspec
import pytest

from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds
from farref.properties.rref.observation import Observation, in_order, lines
from farref.properties.rref.protocol import RREF
from farref.properties.rref.twin import forbidden
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.observation import difference
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.zoo.catalogue import RREF_MUTANTS
from tests.properties.twin.steps import named


def test_the_same_seed_takes_the_same_steps() -> None:
    first, again, other = (campaign(SimulatedBackend, seed=seed, schedules_max=20) for seed in (5, 5, 6))
    assert (first.trace_hash, first.steps, first.faults) == (again.trace_hash, again.steps, again.faults)
    assert first.trace_hash != other.trace_hash


def test_a_schedule_does_not_depend_on_those_before_it() -> None:
    alone, after = Tally(RREF, 0, {}), campaign(SimulatedBackend, seed=3, schedules_max=3)
    for number in range(3):
        one = campaign(SimulatedBackend, seed=3, first=number, schedules_max=1)
        alone.steps += one.steps
        alone.faults += one.faults
    assert (alone.steps, alone.faults) == (after.steps, after.faults)


def test_a_fault_that_is_not_allowed_need_not_happen() -> None:
    fixed = {"drops": 0, "duplicates": 0, "failures": 0, "timeouts": 0}
    calm = campaign(SimulatedBackend, seed=0, schedules_max=30, fixed=fixed)
    assert calm.never_fired == []
    assert set(calm.faults) == {"reordered"}


def test_a_disagreement_tells_its_story_and_the_difference() -> None:
    bounds = Bounds(2, forks=1)
    with RREF_MUTANTS["creator_is_not_counted"].alive():
        twin = Twin(bounds, SimulatedBackend())
        twin.step(named(twin, "CreateRemote(x0, A)"))
        with pytest.raises(Disagreement) as caught:
            twin.step(named(twin, "Deliver(RemoteCall(f0))"))
    told = str(caught.value)
    assert "  2 B receives RemoteCall(f0) from A" in told
    assert "model      B owns x0: value created, forks f0@A, running yes" in told
    assert "simulated  B owns x0: value created, running yes" in told


def test_a_crash_is_a_disagreement() -> None:
    class Crashing(SimulatedBackend):
        def perform(self, action: Action) -> None:
            raise ZeroDivisionError(f"in {action}")

    twin = Twin(Bounds(2, forks=1), Crashing())
    with pytest.raises(Disagreement, match="ZeroDivisionError: in CreateLocal"):
        twin.step(named(twin, "CreateLocal(x0)"))


def test_what_the_model_cannot_do_is_not_asked_of_the_backend() -> None:
    twin = Twin(Bounds(2, forks=1), SimulatedBackend())
    with pytest.raises(ValueError, match="cannot happen here"):
        twin.step(named(twin, "FinishFunction(x0)"))


def test_R27_R32_what_must_be_refused_is_tried() -> None:
    twin = Twin(Bounds(2, forks=2, timeouts=1, shutdown=True), SimulatedBackend())
    twin.step(named(twin, "CreateRemote(x0, A)"))
    assert list(forbidden(twin.world, twin.model.bounds)) == []
    twin.step(named(twin, "TimeOutCreation(f0)"))
    tried = [str(action) for action in forbidden(twin.world, twin.model.bounds)]
    assert tried == ["FetchValue(f0)", "UserShare(f0, B, Call)"]
    twin.step(named(twin, "Shutdown()"))
    twin.finish()


def test_the_tenth_fork_stands_behind_the_ninth_on_both_sides() -> None:
    large = campaign(SimulatedBackend, seed=5, first=20, schedules_max=10, fixed={"forks": 5, "rrefs": 3})
    assert large.disagreement is None, str(large.disagreement)
    twin = Twin(Bounds(4, rrefs=3, forks=5), SimulatedBackend())
    twin.step(named(twin, "CreateRemote(x1, D)"))
    twin.step(named(twin, "CreateRemote(x2, D)"))
    assert [user.fork for user in twin.observation.workers[3].users] == ["f5", "f10"]
    assert [message.fork for message in twin.observation.flying] == ["f5", "f10"]


def test_names_that_nobody_gave_stand_last() -> None:
    assert in_order(["unknown 7", "f10", "f9", "nobody"]) == ("f9", "f10", "nobody", "unknown 7")


def test_what_differs_in_no_line_is_said_to_differ_all_the_same() -> None:
    once, twice = (Observation((), (), False, ("lost",) * times) for times in (1, 2))
    assert difference(once, twice, "simulated", lines) == [
        "simulated  has the same facts, but not as often or in this order"
    ]


def test_an_observation_is_plain_data() -> None:
    twin = Twin(Bounds(3, forks=3, fetches=1), SimulatedBackend())
    for label in ("CreateRemote(x0, A)", "UserShare(f0, C, Call)", "FetchValue(f0)", "Deliver(Call(f1))"):
        twin.step(named(twin, label))
    encoded = msgspec.json.encode(twin.observation)
    assert msgspec.json.decode(encoded, type=Observation) == twin.observation
    assert lines(twin.observation) == [
        "A holds f0: rref x0, state pending, handle held, fetch waiting, children f1@C",
        "C holds f1: rref x0, state pending, handle parked",
        "C waits for an answer from B: ForkRequest(f1)",
        "in flight from A to B: FetchCall(f0)",
        "in flight from C to B: ForkRequest(f1)",
        "in flight from A to B: RemoteCall(f0)",
    ]
    assert difference(twin.observation, twin.observation, "simulated", lines) == []
