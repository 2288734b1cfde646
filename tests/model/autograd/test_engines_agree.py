"""The two engines tell the same of distributed autograd: verdicts, states, depth, coverage and lengths of what they found."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND, TORCH, AutogradRules
from farref.model.autograd.world import Bounds
from farref.model.checker import fast, reference
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.sometimes import autograd_witnesses

SMALL = {
    "every graph": Bounds(workers=2, pairs=1, timeouts=1),
    "faults": Bounds("chain", passes=2, drops=1, duplicates=1, timeouts=1, failures=1),
    "smart": Bounds("half-used", timeouts=1, failures=1, duplicates=1, smart=True),
    "two starters": Bounds("two-starters", passes=2, timeouts=1, smart=True),
    "a broken link": Bounds("there-and-back", cuts=1, timeouts=1, forward=True, release=True),
    "an exclusion": Bounds("there-and-back", exclusions=1, timeouts=1, forward=True, release=True),
    "a death": Bounds("there-and-back", crashes=1, timeouts=1, forward=True, release=True),
    "release": Bounds("there-and-back", timeouts=1, failures=1, detached=1, forward=True, release=True),
}
RULES = [rule.name for rule in fields(AutogradRules)]


def agree(bounds: Bounds, rules: AutogradRules) -> None:
    model, properties = AutogradModel(bounds, rules), (*autograd_properties(bounds), *autograd_witnesses(bounds))
    one, other = (engine.check(model, properties, stop_at_violation=False) for engine in (reference, fast))
    for name in ("verdict", "distinct", "generated", "depth", "verdicts", "coverage"):
        assert getattr(one, name) == getattr(other, name), name
    lengths = [{id_: len(found.actions) for id_, found in run.counterexamples.items()} for run in (one, other)]
    assert lengths[0] == lengths[1]
    witnesses = [{id_: len(actions) for id_, actions in run.witnesses.items()} for run in (one, other)]
    assert witnesses[0] == witnesses[1]


@pytest.mark.parametrize("bounds", SMALL.values(), ids=SMALL)
def test_on_the_sound_profile(bounds: Bounds) -> None:
    agree(bounds, SOUND)


@pytest.mark.parametrize("name", ["faults", "smart", "every graph"])
def test_on_pytorchs_profile(name: str) -> None:
    agree(SMALL[name], TORCH)


@pytest.mark.parametrize("rule", RULES)
def test_on_every_mutant(rule: str) -> None:
    agree(SMALL["faults"], replace(SOUND, **{rule: False}))
