"""The clauses of the proof as runtime assertions beside the implementation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from farref.model.rref.rules import RULES, SOUND
from farref.model.rref.world import Bounds
from farref.properties.proof.link.clauses import checks
from farref.properties.proof.link.judge import ProvedClauses
from farref.properties.proof.link.worlds import state_of
from farref.properties.proof.rref.invariant import INVARIANT
from farref.properties.proof.rref.rules import RULES as PROVED_RULES
from farref.properties.protocol import unjudged
from farref.properties.rref.protocol import RREF
from farref.properties.rref.touched import touched
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.stepper import Stepper
from farref.properties.twin.twin import Disagreement, Twin
from farref.properties.violation import Violation

SCHEDULES = 4


def run(rule: str | None, number: int) -> tuple[Any, list[tuple[Any, list[Any]]]]:
    """Take a schedule, maybe without a rule, and give its bounds, and each world with the actions that led there."""
    schedule = RREF.draw(3, number, {})
    stepper = Stepper(schedule, schedule.random())
    stepper.model = RREF.model(schedule.bounds, SOUND if rule is None else replace(SOUND, **{rule: False}))
    moments, actions = [(stepper.model.initial, list[Any]())], list[Any]()
    while (action := stepper.draw(moments[-1][0])) is not None:
        actions.append(action)
        moments.append((stepper.after, [*actions]))
    return schedule.bounds, moments


def whole(world: Any, actions: list[Any], bounds: Any) -> set[str]:
    """Name the clauses that are broken anywhere in a world."""
    remote = frozenset(one.rref for one in actions if type(one).__name__ == "CreateRemote")
    state = state_of(world, remote, bounds)
    return {one.id for one in INVARIANT if not checks()[one.id](state)}


@pytest.mark.parametrize("number", range(SCHEDULES))
def test_every_clause_holds_in_a_run(number: int) -> None:
    bounds, moments = run(None, number)
    proved, changed = ProvedClauses(bounds), touched(bounds)
    before = moments[0][0]
    for world, actions in moments:
        assert proved(world, actions, changed(before, world)) == []
        before = world


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule in PROVED_RULES])
def test_what_is_lost_first_is_seen_in_what_was_touched(rule: str) -> None:
    """Where a rule is off, the first step that loses a clause touches something of which the clause is lost."""
    for number in range(SCHEDULES):
        bounds, moments = run(rule, number)
        proved, changed = ProvedClauses(bounds), touched(bounds)
        before = moments[0][0]
        for world, actions in moments:
            lost = {one.property for one in proved(world, actions, changed(before, world))}
            assert lost == whole(world, actions, bounds)
            if lost:
                break
            before = world


def test_some_clause_is_lost_without_some_rule() -> None:
    bounds, moments = run("parent_waits_for_children", 0)
    names = [f"fork f{fork}" for fork in range(bounds.forks_total)]
    lost = [one for world, actions in moments for one in ProvedClauses(bounds)(world, actions, names)]
    assert "J9" in {one.property for one in lost}  # a fork on its way is listed by its parent
    assert {"R14"} == {one.clause for one in lost if one.property == "J9"}


def test_lockstep_looks_at_the_clauses_of_the_proof() -> None:
    bounds = Bounds(2, forks=1)
    twin = Twin(bounds, ModelBackend())
    assert isinstance(twin.proved, ProvedClauses)
    twin.proved = lambda _world, actions, touched: [Violation("J17", "R24", "", f"{len(actions)} {sorted(touched)}")]
    with pytest.raises(Disagreement) as caught:
        twin.step(twin.named("CreateRemote(x0, A)"))
    assert [one.property for one in caught.value.violated] == ["J17"]
    assert "fork f0" in caught.value.violated[0].about


def test_a_run_whose_start_is_not_known_is_not_judged_by_them() -> None:
    bounds = Bounds(2, forks=1)
    model = RREF.model(bounds, SOUND)
    world = next(after for action in model.actions if (after := model.step(model.initial, action)) is not None)
    assert Twin.resume(ModelBackend(), bounds, world).proved is unjudged
