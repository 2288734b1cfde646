"""Programs that run by themselves between real workers in bad weather: what an application sees is what it must see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from farref.model.autograd.spelling import find_graph
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.twin.backends.autograd.free import WELL, PlannedPass, Seen
from farref.properties.twin.backends.autograd.plans import (
    AMPLE_S,
    HASTE_S,
    Storm,
    draw_plan,
    endings,
    judge,
)
from farref.properties.twin.tally import Tally
from farref.properties.zoo.catalogue import AUTOGRAD_MUTANTS

PROGRAMS = 25


@pytest.fixture(scope="module")
def storm() -> Iterator[Storm]:
    """Workers that live as long as this module's tests."""
    workers = Storm()
    yield workers
    workers.close()


@pytest.mark.waits
def test_gradients_are_equal_to_the_last_bit_and_nothing_is_left(storm: Storm) -> None:
    tally = Tally(AUTOGRAD, 7, {}, cannot=Storm.cannot)
    for number in range(PROGRAMS):
        tally.add(storm.take(AUTOGRAD.draw(7, number, {})))
        assert tally.disagreement is None, tally.disagreement.lines
    assert tally.never_fired == []


def test_what_is_not_allowed_does_not_happen(storm: Storm) -> None:
    calm = {"drops": 0, "duplicates": 0, "failures": 0, "timeouts": 0}
    done = [storm.take(AUTOGRAD.draw(7, number, calm)) for number in range(5)]
    assert {fault for one in done for fault, number in one.faults.items() if number} <= {"reordered"}


def test_a_plan_follows_from_its_schedule() -> None:
    plans = [draw_plan(AUTOGRAD.draw(1, number, {})) for number in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]


def test_plans_have_everything_in_them() -> None:
    plans = [draw_plan(AUTOGRAD.draw(1, number, {})) for number in range(200)]
    passes = [one for plan in plans for one in plan.passes]
    assert any(call.raises for plan in plans for call in plan.calls)
    assert any(one.raising is not None for one in passes)
    assert {one.timeout for one in passes} == {HASTE_S, AMPLE_S}
    assert {one.smart for one in passes} == {True, False}


def test_how_a_pass_may_end() -> None:
    graph = find_graph("AB BA BA: A>r1 s1>r0 s2>r0 s0>A")
    fast = PlannedPass(0, ((1, 2),), 1, smart=False, raising=None, timeout=AMPLE_S)
    assert endings(graph, fast) == {"UnreachedSends"}
    assert endings(graph, replace(fast, smart=True)) == {WELL}
    assert endings(graph, replace(fast, smart=True, raising=0)) == {"RuleRaised"}
    assert endings(graph, replace(fast, smart=True, raising=2)) == {WELL}
    assert endings(graph, replace(fast, smart=True, timeout=HASTE_S)) == {WELL, "PassTimeout"}


def test_what_is_wrong_is_told() -> None:
    schedule = AUTOGRAD.draw(3, 0, {})
    graph, plan = schedule.bounds.catalogue[0], draw_plan(schedule)
    nothing = (None,) * plan.workers
    complaints = judge(graph, plan, [Seen("PassBusy", (1.0, *nothing[1:]))] * len(plan.passes))
    assert "pass 1 ended with PassBusy" in complaints[0]
    assert "the gradients are (1.0," in complaints[1]


def make_a_mistake() -> None:
    """Commit late, in this process, for good."""
    AUTOGRAD_MUTANTS["a_worker_commits_late"].let_loose()


def test_a_mistake_is_noticed() -> None:
    workers = Storm(make_a_mistake)
    try:
        assert any(workers.take(AUTOGRAD.draw(1, number, {})).disagreement for number in range(20))
    finally:
        workers.close()
