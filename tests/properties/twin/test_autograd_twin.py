"""Model and engine take every step of random programs together: they agree, and where they would not, the twin says so."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from farref.model.autograd.graphs import GRAPHS
from farref.model.autograd.spelling import find_graph
from farref.model.autograd.world import Bounds
from farref.properties.autograd.candidates import AutogradCandidates
from farref.properties.autograd.limits import is_begun_by_creator
from farref.properties.autograd.observation import Observation, lines
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.autograd.schedules import EXACT_MAX, draw_graph, heaviest
from farref.properties.autograd.smaller import smaller
from farref.properties.autograd.twin import forbidden, prompt
from farref.properties.protocols import sound_model
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.campaign import campaign
from farref.properties.twin.candidates import LATE
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.stepper import Stepper
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS
from tests.properties.twin.steps import named

QUICK = settings(
    max_examples=30, stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def test_the_same_seed_takes_the_same_steps_in_any_number_of_processes() -> None:
    alone, shared = (
        campaign(SimulatedAutograd, seed=5, first=3, schedules_max=21, jobs=jobs, protocol="autograd")
        for jobs in (1, 2)
    )
    assert (alone.trace_hash, alone.steps, alone.faults) == (shared.trace_hash, shared.steps, shared.faults)
    assert alone.trace_hash != campaign(SimulatedAutograd, seed=6, schedules_max=21, protocol="autograd").trace_hash


# -- drawing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(40))
def test_everything_that_can_happen_is_a_candidate(number: int) -> None:
    schedule = AUTOGRAD.draw(11, number, {})
    model = sound_model(schedule.bounds)
    candidates = AutogradCandidates(model, schedule.late)
    stepper, world = Stepper(schedule, schedule.random()), model.initial
    while (action := stepper.draw(world)) is not None:
        listed = {one for sort in AUTOGRAD.sorts for one in candidates.of(sort, world)}
        assert {one for one in model.actions if model.step(world, one) is not None} <= listed
        world = model.step(world, action)
        while (at_once := prompt(world, schedule.bounds)) is not None:
            world = model.step(world, at_once)
    assert not any(model.step(world, one) for one in model.actions)


def test_a_late_kind_is_delivered_late_only() -> None:
    bounds = Bounds("there-and-back", forward=True)
    model = sound_model(bounds)
    candidates = AutogradCandidates(model, ("ForwardCall",))
    world = model.step(model.initial, next(one for one in model.actions if str(one) == "SendTensors(pair 0)"))
    assert candidates.of("deliver", world) == []
    assert [str(one) for one in candidates.of(LATE, world)] == ["Deliver(ForwardCall(pair 0))"]


def test_programs_are_of_every_kind_and_exact() -> None:
    random = Random(1)
    graphs = [draw_graph(random, 3) for _ in range(300)]
    assert all(heaviest(graph) * 10**6 <= EXACT_MAX for graph in graphs)
    assert all(is_begun_by_creator(graph) for graph in graphs)
    used = [{flow.exit for flow in graph.flows} for graph in graphs]
    assert any(len(graph.roots) > 1 for graph in graphs), "several roots"
    assert any(one.source == one.target for graph in graphs for one in graph.pairs), "a call to oneself"
    assert any(len({*graph.pairs}) < len(graph.pairs) for graph in graphs), "a value that is fetched again"
    assert any(len(used[place]) < len(graph.pairs) for place, graph in enumerate(graphs)), "an unused result"
    assert {graph.workers for graph in graphs} == {1, 2, 3, 4}


def test_bounds_that_are_fixed_are_the_same_in_all() -> None:
    drawn = [AUTOGRAD.draw(1, number, {"pairs": 9, "smart": True, "drops": 0}).bounds for number in range(20)]
    assert {(len(bounds.pair_ids), bounds.smart, bounds.drops) for bounds in drawn} == {(9, True, 0)}


# -- disagreements -----------------------------------------------------------------------------------------------------


def test_a_disagreement_tells_its_story_and_the_difference() -> None:
    with AUTOGRAD_MUTANTS["a_worker_commits_late"].alive():
        twin = Twin(Bounds("local"), SimulatedAutograd())
        with pytest.raises(Disagreement) as caught:
            twin.step(named(twin, "Backward(A)"))
    told = str(caught.value)
    assert "  1 A calls backward(); on A the gradient 2 can be seen; pass 1 has ended well: backward() returns" in told
    assert "model      A: context open, gradient 2, newest A:1" in told
    assert "simulated  A: context open, newest A:1" in told


def test_what_a_worker_sends_to_itself_arrives_at_once() -> None:
    twin = Twin(Bounds("self"), SimulatedAutograd())
    twin.step(named(twin, "Backward(A)"))
    assert [str(action) for action in twin.actions] == [
        "Backward(A)",
        "Deliver(PropagateGradients(pass 1, pair 1))",
        "Deliver(PropagateGradients(pass 1, pair 0))",
    ]
    again = Twin(Bounds("self"), SimulatedAutograd())
    assert again.take(twin.actions) == 3
    assert again.world == twin.world


def test_A10_A20_A24_what_must_be_refused_is_tried() -> None:
    twin = Twin(Bounds("there-and-back", forward=True, release=True), SimulatedAutograd())

    def tried() -> list[str]:
        return [str(action) for action in forbidden(twin.world, twin.model.bounds)]

    for label in ("SendTensors(pair 0)", "Deliver(ForwardCall(pair 0))", "SendTensors(pair 1)"):
        twin.step(named(twin, label))
    twin.step(named(twin, "Deliver(ForwardCall(pair 1))"))
    assert tried() == []
    twin.step(named(twin, "Backward(A)"))
    assert tried() == ["Backward(A)"]
    for message in ("PropagateGradients(pass 1, pair 1)", "PropagateGradients(pass 1, pair 0)"):
        twin.step(named(twin, f"Deliver({message})"))
    twin.step(named(twin, "Deliver(Report(PropagateGradients(pass 1, pair 1)))"))
    assert tried() == ["TimeOut(pass 1)", "Backward(B)"]
    twin.step(named(twin, "ReleaseContext()"))
    assert tried() == ["TimeOut(pass 1)", "Backward(A)", "Backward(B)", "ReleaseContext()"]
    twin.finish()


def test_a_context_that_is_released_is_where_a_call_brought_it() -> None:
    drawn = [AUTOGRAD.draw(3, number, {"release": True}).bounds for number in range(200)]
    assert all(is_begun_by_creator(find_graph(bounds.graph)) for bounds in drawn)
    assert {*GRAPHS} & {bounds.graph for bounds in drawn}
    bounds = Bounds("AB AC CB: B>r2 s2>C", release=True)
    assert [one.graph for one, _ in smaller(bounds, ()) if one.graph.startswith("AB CB:")] == []
    assert "AB CB: B>r1 s1>C" in [one.graph for one, _ in smaller(replace(bounds, release=False), ())]


def test_an_observation_is_plain_data() -> None:
    twin = Twin(Bounds("unused-result"), SimulatedAutograd())
    for label in ("Backward(A)", "Deliver(PropagateGradients(pass 1, pair 0))"):
        twin.step(named(twin, label))
    encoded = msgspec.json.encode(twin.observation)
    assert msgspec.json.decode(encoded, type=Observation) == twin.observation
    assert lines(twin.observation) == [
        "A: context open, recvs 0 1, got B:2, task in pass 1 (), newest A:1",
        "B: context open, sends 0 1, sent A:2, task in pass 1 (expected 0 1, arrived 0), newest A:1",
        "pass 1: root A, phase running, engaged A, under way PropagateGradients(pass 1, pair 0)",
        "B waits for an answer from A: Report(PropagateGradients(pass 1, pair 0))",
        "in flight from B to A: Report(PropagateGradients(pass 1, pair 0)), caused",
    ]


# -- Hypothesis --------------------------------------------------------------------------------------------------------


def test_hypothesis_finds_no_disagreement() -> None:
    run_state_machine_as_test(twin_machine(SimulatedAutograd), settings=QUICK)


def test_a_disagreement_is_found_and_shrunk_by_hypothesis() -> None:
    quick = settings(
        QUICK, phases=(Phase.generate, Phase.shrink), max_examples=200, derandomize=True, report_multiple_bugs=False
    )
    mutant = AUTOGRAD_MUTANTS["arrivals_are_not_accounted_for"]
    with mutant.alive(), pytest.raises(Disagreement) as caught:
        run_state_machine_as_test(twin_machine(SimulatedAutograd), settings=quick)
    assert len(caught.value.actions) <= 2
