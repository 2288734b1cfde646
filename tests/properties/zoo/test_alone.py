"""What one property sees first: its mistake is made in the model for a while, and without it nothing is broken there."""

from __future__ import annotations

import pytest

from farref.model.checker import reference
from farref.properties.protocols import CHECKED
from farref.properties.zoo.alone import ALONE
from farref.properties.zoo.off import properties_off
from farref.zookeeping.modelled import check_alone

each = pytest.mark.parametrize(("subject", "property_"), ALONE)


@each
def test_a_judge_that_does_not_look_at_it_is_found(subject: str, property_: str) -> None:
    outcome = check_alone(properties_off()[f"{subject}.blind.{property_}"])
    assert outcome.killed
    assert f"{property_} in " in outcome.by


@each
def test_nothing_is_broken_there_without_the_mistake(subject: str, property_: str) -> None:
    about, alone = CHECKED[subject], ALONE[subject, property_]
    model, properties = about.model(alone.world, about.profiles["sound"]), about.properties(alone.world)
    assert property_ in [one.id for one in properties]
    assert reference.check(model, properties).counterexamples == {}
