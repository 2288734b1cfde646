"""Views in TLA+ (RRefViews.tla): what R46 promises holds, and every rule is needed. Our model says the same in the same worlds.

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

from farref.model.checker import fast
from farref.model.checker.interface import Budget, Verdict
from farref.model.checker.run import Run
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_VIEWS, SOUND, RRefRules
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.tlc import engine as tlc
from farref.tlc import members, views
from farref.tlc.members import world_of
from farref.tlc.views import ViewWorld

THREE: Final = Bounds(3, forks=2, exclusions=1, owner_shares=False, self_shares=False)
TWO: Final = replace(THREE, workers=2, forks=1)
ALIKE: Final = (
    THREE,
    replace(THREE, forks=1, exclusions=2, lost_owners=True),
    replace(THREE, forks=1, fetches=1, owner_shares=True),
)
ODD: Final = (
    replace(TWO, results=True, fetches=1, owner_shares=True, lost_owners=True),
    replace(THREE, forks=1, joins=1),
    replace(TWO, drops=1, duplicates=1),
)
MUTANTS: Final = {
    "refuses_the_excluded": (THREE, "BuriedAreHeardByNobody"),
    "fails_creation_of_the_excluded": (THREE, "NothingIsLeft"),
    "settles_what_came_from_the_excluded": (THREE, "NothingIsDroppedEarly"),
    "everybody_settles": (replace(THREE, forks=1), "BuriedAreHeardByNobody"),
    "same_view": (replace(THREE, forks=1, exclusions=2), "BuriedAreHeardByNobody"),
    "waits_until_settled": (replace(THREE, forks=1), "BuriedAreHeardByNobody"),
    "children_wait_too": (replace(THREE, results=True), "NothingIsDroppedEarly"),
}
"""For each rule a small world in which it is missed, and the promise that is broken first."""

STORY: Final = ViewWorld(users=3, forks=3, views=2, results=True, is_story=True)


def mutant(rule: str) -> tuple[Bounds, RRefRules]:
    """Give the world in which a rule is missed, and the rules without it."""
    return MUTANTS[rule][0], replace(SOUND, **{rule: False})


EVEN: Final = (*(world_of(one, SOUND) for one in ALIKE), *(world_of(*mutant(rule)) for rule in MUTANTS))
LED: Final = (*(world_of(one, SOUND) for one in ODD), STORY, replace(STORY, without="same_view"))

TEXT: Final = (Path(__file__).parents[3] / "spec" / "members.md").read_text("utf-8")
ROW: Final = re.compile(r"^\| `(\w+)` \| (\d) \| (\d) \| `(\w+)` \|$", re.MULTILINE)

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("tlc_is_here")]


@cache
def survey(worlds: tuple[ViewWorld, ...], *claims: str) -> dict[ViewWorld, str]:
    """Have TLC look at some worlds; give those in which a promise is broken, and which."""
    listener = tlc.Listener(Run("tlc", RRefModel(Bounds()), (), Budget()))
    config = views.render_config(worlds, ("Survey", *claims), constraint="IsOpen")
    tlc.run_tlc(config, listener, module=views.MODULE, files={"ViewWorlds.tla": views.worlds_module(worlds)})
    said = "".join(listener.said)
    assert listener.run.complete, said
    return {worlds[int(at) - 1]: name for at, name in re.findall(r'<<"broken", (\d+), "(\w+)">>', said)}


def ours(bounds: Bounds, rules: RRefRules) -> Verdict:
    """What our fast engine says of the properties that the module states."""
    return fast.check(RRefModel(bounds, rules), members.stated(rref_properties(bounds))).verdict


@pytest.mark.parametrize("bounds", ALIKE)
def test_what_is_promised_holds_among_alike(bounds: Bounds) -> None:
    assert world_of(bounds, SOUND) not in survey(EVEN)
    assert ours(bounds, SOUND) is Verdict.HOLDS


@pytest.mark.parametrize("bounds", ODD)
def test_what_is_promised_holds_with_joins_losses_and_a_lost_owner(bounds: Bounds) -> None:
    assert world_of(bounds, SOUND) not in survey(LED, "TypeOK", "RunsEndQuiet")
    assert ours(bounds, SOUND) is Verdict.HOLDS


@pytest.mark.parametrize("rule", OF_VIEWS)
def test_every_rule_is_needed(rule: str) -> None:
    assert survey(EVEN).get(world_of(*mutant(rule))) == MUTANTS[rule][1]
    assert ours(*mutant(rule)) is Verdict.VIOLATED


def test_the_worlds_in_which_rules_are_missed_are_written() -> None:
    rows = [(rule, str(one.forks), str(one.exclusions), broken) for rule, (one, broken) in MUTANTS.items()]
    assert ROW.findall(TEXT) == rows


def test_without_the_same_view_a_member_loses_its_value() -> None:
    """R40: the search is led there. Among fewer workers TLC finds only that somebody buried is still heard."""
    assert survey(LED, "TypeOK", "RunsEndQuiet") == {LED[-1]: "NothingIsDroppedEarly"}


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (replace(THREE, rrefs=2), "one RRef"),
        (replace(THREE, self_shares=True), "--no-self-shares"),
        (replace(THREE, failures=1), "leave out --failures"),
    ],
)
def test_what_the_module_does_not_have_is_refused(bounds: Bounds, said: str) -> None:
    with pytest.raises(tlc.TlcUnavailable, match=said):
        members.check(bounds, SOUND, rref_properties(bounds))


def test_a_rule_of_rrefs_that_is_not_followed_is_refused() -> None:
    rules = replace(SOUND, processes_once=False)
    with pytest.raises(tlc.TlcUnavailable, match="without one rule of R35 to R46"):
        members.check(THREE, rules, rref_properties(THREE))


def test_the_engine_names_what_is_broken() -> None:
    bounds, rules = replace(TWO, owner_shares=True), replace(SOUND, waits_until_settled=False)
    found = members.check(bounds, rules, rref_properties(bounds))
    assert (found.verdict, found.verdicts["Vcut"]) == (Verdict.VIOLATED, Verdict.VIOLATED)
    assert any("TLC breaks Vcut in 1 step of its own" in note for note in found.notes)
