"""The two engines tell the same of the threads: verdicts, states, depth, coverage and the length of what they found."""

from __future__ import annotations

import pytest

from farref.model.checker import fast, reference
from farref.model.threads.model import ThreadModel
from farref.model.threads.rules import RULES, SOUND
from farref.model.threads.world import Bounds
from farref.properties.threads.always import thread_properties
from farref.properties.threads.sometimes import thread_witnesses

SMALL = {
    "a caller that waits": Bounds(callers=1, background=2, frames=1, tasks=0, interrupts=1),
    "callers that go on": Bounds(callers=2, background=2, frames=2, tasks=0, waits=False),
    "a function": Bounds(callers=1, background=3, frames=0, tasks=1, spawn_failures=1),
}


def agree(bounds: Bounds, *missing: str) -> None:
    model = ThreadModel(bounds, SOUND.without(*missing))
    wanted = [one for one in (*thread_properties(bounds), *thread_witnesses(bounds)) if one.id != "E8"]
    one, other = (engine.check(model, wanted) for engine in (reference, fast))
    for name in ("verdict", "distinct", "generated", "depth", "verdicts", "coverage"):
        assert getattr(one, name) == getattr(other, name), name
    lengths = [{id_: len(found.actions) for id_, found in run.counterexamples.items()} for run in (one, other)]
    assert lengths[0] == lengths[1]


@pytest.mark.parametrize("bounds", SMALL.values(), ids=SMALL)
def test_on_the_sound_threads(bounds: Bounds) -> None:
    agree(bounds)


@pytest.mark.parametrize("rule", RULES)
def test_on_every_mutant(rule: str) -> None:
    agree(SMALL["callers that go on" if rule.startswith("l") else "a caller that waits"], rule)
