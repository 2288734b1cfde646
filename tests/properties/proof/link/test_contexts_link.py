"""The proof of releases beside the autograd model: clauses, steps in both directions, and states that no run need reach."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from farref.model.autograd.rules import SOUND
from farref.model.autograd.world import Bounds
from farref.model.checker.fast import check
from farref.properties.proof.autograd.passes import WORKER
from farref.properties.proof.autograd.release import CALL, first_unknown
from farref.properties.proof.autograd.release_invariant import CONTEXT, FORGET
from farref.properties.proof.induction.questions import cases, invariant
from farref.properties.proof.link.compared import RELEASE
from farref.properties.proof.link.contexts import broken, moments, only_in_the_proof, state_of, step_of
from farref.properties.proof.link.releases import LinkedModel, facts_of, frame_of, properties
from farref.properties.proof.subjects import AUTOGRAD
from farref.properties.protocol import Configuration
from tests.properties.proof.link.drawn import every_fact, released, states

BOUNDS = Bounds("there-and-back", failures=1, drops=1, detached=1, forward=True, release=True)


@pytest.mark.parametrize("one", RELEASE.portfolio, ids=lambda one: one.name)
def test_every_clause_holds_and_every_step_of_the_model_is_one_of_the_proof(one: Configuration) -> None:
    found = check(RELEASE.model(one.bounds), RELEASE.properties(one.bounds))
    assert found.counterexamples == {}
    assert found.distinct > 5000


@pytest.mark.parametrize("rule", ["forgets_when_drained", "takes_effect_once"])
def test_without_a_rule_a_clause_or_a_step_is_lost(rule: str) -> None:
    bounds = Bounds("there-and-back", duplicates=1, failures=1, forward=True, release=True)
    found = check(LinkedModel(bounds, replace(SOUND, **{rule: False})), properties(bounds), stop_at_violation=False)
    assert "steps" in found.counterexamples
    assert rule != "forgets_when_drained" or "Q10" in found.counterexamples


def test_whole_states_show_the_same() -> None:
    """The comparison once more, with whole states and without the checker; and every step of the proof is the model's."""
    for world, past, moves in islice(moments(BOUNDS), 0, 1000, 10):
        before = state_of(world, past, BOUNDS)
        assert broken(before) == []
        assert list(only_in_the_proof(world, past, BOUNDS)) == []
        for action, after, later in moves:
            assert step_of(before, state_of(after, later, BOUNDS)) is not None, action


def test_the_model_keeps_the_invariant_where_no_run_need_lead() -> None:
    bounds, s = Bounds("relay", failures=1, forward=True, release=True), CONTEXT.state
    [drained] = [one for one in cases(FORGET, AUTOGRAD.sound) if one.name == "Drained"]
    hypotheses = [*invariant(FORGET), first_unknown(s), ~drained.guard]  # what is drained is forgotten at once
    model, frame, steps = LinkedModel(bounds), frame_of(bounds), 0
    for state in states(CONTEXT, hypotheses, frame, {"Call": CALL, "Worker": WORKER}, 100):
        world = released(state, bounds)
        holds = facts_of(world, bounds)
        assert {fact for fact in every_fact(CONTEXT, frame) if holds(fact)} == state.facts
        for after in (found for action in model.actions if (found := model.step(world, action)) is not None):
            steps += 1
            assert [one.id for one in properties(bounds) if not all(case.holds(after) for case in one.cases)] == []
    assert steps > 30
