"""Views in TLA+ (RRefViews.tla): what R46 promises holds, and every rule is needed.

The module is a second opinion: it was written from the clauses, with a bag of messages on each link, and the
authority as a node. TLC is started twice, each time for many worlds.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from farref.model.checker.interface import Budget
from farref.model.checker.run import Run
from farref.model.rref.model import RRefModel
from farref.model.rref.world import Bounds
from farref.properties.proof.views.rules import RULES
from farref.tlc import engine as tlc
from farref.tlc import views
from farref.tlc.views import ViewWorld

SOUND: Final = (
    ViewWorld(),
    ViewWorld(forks=1, views=2, owner_is_losable=True),
    ViewWorld(forks=1, fetches=1, owner_shares=True),
)
ODD: Final = (
    ViewWorld(users=1, forks=1, results=True, fetches=1, owner_shares=True, owner_is_losable=True),
    ViewWorld(users=1, joiners=1, forks=1),
    ViewWorld(users=1, forks=1, drops=1, copies=1),
)
STORY: Final = ViewWorld(users=3, forks=3, views=2, results=True, is_story=True)
MUTANTS: Final = {
    "refuses_the_excluded": (ViewWorld(), "BuriedAreHeardByNobody"),
    "fails_creation_of_the_excluded": (ViewWorld(), "NothingIsLeft"),
    "settles_what_came_from_the_excluded": (ViewWorld(), "NothingIsDroppedEarly"),
    "everybody_settles": (ViewWorld(forks=1), "BuriedAreHeardByNobody"),
    "same_view": (ViewWorld(forks=1, views=2), "BuriedAreHeardByNobody"),
    "waits_until_settled": (ViewWorld(forks=1), "BuriedAreHeardByNobody"),
    "children_wait_too": (ViewWorld(results=True), "NothingIsDroppedEarly"),
}
"""For each rule a small world in which it is missed, and the promise that is broken first."""

EVEN: Final = (*SOUND, *(replace(world, without=rule) for rule, (world, _) in MUTANTS.items()))
LED: Final = (*ODD, STORY, replace(STORY, without="same_view"))

TEXT: Final = (Path(__file__).parents[2] / "spec" / "members.md").read_text("utf-8")
ROW: Final = re.compile(r"^\| `(\w+)` \| (\d) \| (\d) \| `(\w+)` \|$", re.MULTILINE)

pytestmark = pytest.mark.usefixtures("tlc_is_here")


@cache
def survey(worlds: tuple[ViewWorld, ...], *claims: str) -> dict[ViewWorld, str]:
    """Have TLC look at some worlds; give those in which a promise is broken, and which."""
    listener = tlc.Listener(Run("tlc", RRefModel(Bounds()), (), Budget()))
    config = views.render_config(worlds, ("Survey", *claims), constraint="IsOpen")
    tlc.run_tlc(config, listener, module=views.MODULE, files={"ViewWorlds.tla": views.worlds_module(worlds)})
    said = "".join(listener.said)
    assert listener.run.complete, said
    return {worlds[int(at) - 1]: name for at, name in re.findall(r'<<"broken", (\d+), "(\w+)">>', said)}


@pytest.mark.parametrize("world", SOUND)
def test_what_is_promised_holds_among_alike(world: ViewWorld) -> None:
    assert world not in survey(EVEN)


@pytest.mark.parametrize("world", [*ODD, STORY])
def test_what_is_promised_holds_with_joins_losses_and_a_lost_owner(world: ViewWorld) -> None:
    assert world not in survey(LED, "TypeOK", "RunsEndQuiet")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_needed(rule: str) -> None:
    world, broken = MUTANTS[rule]
    assert survey(EVEN).get(replace(world, without=rule)) == broken


def test_the_worlds_in_which_rules_are_missed_are_written() -> None:
    rows = [(rule, str(world.forks), str(world.views), broken) for rule, (world, broken) in MUTANTS.items()]
    assert ROW.findall(TEXT) == rows


def test_without_the_same_view_a_member_loses_its_value() -> None:
    """R40: the search is led there. Among fewer workers TLC finds only that somebody buried is still heard."""
    assert survey(LED, "TypeOK", "RunsEndQuiet") == {LED[-1]: "NothingIsDroppedEarly"}
