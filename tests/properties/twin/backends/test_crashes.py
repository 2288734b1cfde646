"""Crash points: after each of them everything is as the spec says, and every shortcut with members is found by them."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from farref.impl.core.autograd.messages import EngineBody
from farref.impl.core.messages import RRefBody, UserCall
from farref.properties.twin.backends.crashes.campaign import crash_points, try_point, try_points
from farref.properties.twin.backends.crashes.passes import steps_of
from farref.properties.twin.backends.crashes.points import Fate, Point
from farref.properties.twin.backends.crashes.references import STORIES
from farref.properties.twin.backends.crashes.stories import PASSES, REFERENCES
from farref.properties.twin.backends.crashes.words import STEPS, Stage
from farref.properties.zoo.catalogue import CRASH_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant

POINTS = crash_points()
SHUFFLED = [point for start in range(41) for point in POINTS[start::41]]
"""The same in another order, in which all stories come early."""


def names() -> set[str]:
    """The stories, as points name them."""
    return {point.story for point in POINTS}


@pytest.mark.parametrize("story", sorted(names()))
def test_whoever_is_lost_and_whenever_everything_is_as_the_spec_says(story: str) -> None:
    outcomes = try_points(point for point in POINTS if point.story == story)
    assert [(one.point.name, one.problems) for one in outcomes if one.problems] == []


def test_there_are_many_points_in_every_way_and_each_has_a_name() -> None:
    assert len(POINTS) == len({point.name for point in POINTS}) > 2000
    for fate in Fate:
        assert sum(point.fate is fate for point in POINTS) > 150


def test_every_kind_of_message_and_of_step_is_a_step_of_some_story() -> None:
    lines = [line for story in REFERENCES for line in story.steps]
    assert all(any(re.fullmatch(pattern, line) for line in lines) for pattern, _ in STEPS)
    arrive = {found[1] for line in lines if (found := re.match(r"\w's (\w+) to", line))}
    arrive |= {line.split(" to ")[0] for story in PASSES for line in steps_of(story)}
    sent = {kind.__name__ for kind in (*get_args(UserCall), *get_args(RRefBody), *get_args(EngineBody))}
    assert sent <= arrive


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_story_can_be_played_to_its_end(story: object) -> None:
    stage = Stage()
    for line in story.steps:  # type: ignore[attr-defined]
        stage.play(line)
    assert stage.lost_values == []


@pytest.mark.parametrize("mutant", CRASH_MUTANTS.values(), ids=CRASH_MUTANTS)
def test_every_shortcut_is_found(mutant: Mutant) -> None:
    with mutant.alive():
        assert any(one.problems for one in try_points(SHUFFLED))


@pytest.mark.parametrize(
    ("shortcut", "point"),
    [
        ("forks_are_released_at_once", Point("chain", 14, "C", Fate.GONE)),
        ("those_who_are_left_suffice", Point("chain", 15, "CD", Fate.SECOND)),
        ("children_are_forgotten_at_once", Point("heirs", 9, "C", Fate.GONE)),
        ("not_everybody_has_to_settle", Point("heirs", 9, "C", Fate.GONE)),
        ("heirs_are_not_waited_for", Point("heirs", 9, "C", Fate.GONE)),
    ],
)
def test_shortcuts_cost_a_worker_a_value_that_it_holds(shortcut: str, point: Point) -> None:
    assert try_point(point).problems == ()
    with CRASH_MUTANTS[shortcut].alive():
        assert any("drops" in problem for problem in try_point(point).problems)
