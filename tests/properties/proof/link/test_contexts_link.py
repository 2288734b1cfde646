"""The proof of releases beside the autograd model: every clause holds in its worlds, and its steps are the proof's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from farref.model.autograd.rules import SOUND
from farref.model.autograd.world import Bounds
from farref.properties.proof.link.contexts import broken, moments, state_of, step_of

WORLDS = {
    "there and back": Bounds("there-and-back", failures=1, forward=True, release=True),
    "relay": Bounds("relay", forward=True, release=True),
    "lost and found": Bounds("there-and-back", drops=1, detached=1, forward=True, release=True),
}
WORLDS_MAX = 300


@pytest.mark.parametrize("name", WORLDS)
def test_every_clause_holds_and_every_step_of_the_model_is_one_of_the_proof(name: str) -> None:
    bounds, taken = WORLDS[name], Counter[str]()
    for world, past, moves in islice(moments(bounds), WORLDS_MAX):
        before = state_of(world, past, bounds)
        assert broken(before) == []
        for action, after, later in moves:
            step = step_of(before, state_of(after, later, bounds))
            assert step is not None, f"{action} is no step of the proof"
            taken[step] += 1
    assert {"a call is sent", "a call arrives", "Release", "CleanupContext", "Forget"} <= taken.keys()
    assert any("Drained" in step for step in taken)


def test_without_the_rule_a_clause_is_lost() -> None:
    bounds = Bounds("there-and-back", forward=True, release=True)
    rules = replace(SOUND, forgets_when_drained=False)
    lost = {one for world, past, _ in moments(bounds, rules) for one in broken(state_of(world, past, bounds))}
    assert "Q10" in lost
