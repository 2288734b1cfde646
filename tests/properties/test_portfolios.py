"""The standard portfolio: SOUND holds on all of it, nothing in it is vacuous, and every property can fail in it.

It is searched once, by the command everybody begins with. That every rule is needed in it is what the table of rules in
spec/README.md says, and `tests/test_generated.py` makes that table anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Kind, Verdict
from farref.model.rref import user
from farref.model.rref.actions import Action
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND
from farref.model.rref.steps import step
from farref.model.rref.world import World
from farref.model.values import no_ids
from farref.properties.autograd import portfolio as autograd
from farref.properties.rref.always import rref_properties
from farref.properties.rref.portfolio import PORTFOLIO, SWITCHES
from farref.properties.rref.sometimes import rref_witnesses
from tests.generated import farref

pytestmark = pytest.mark.long

STATES = {
    "one fork": 3_568,
    "two forks": 186_404,
    "views": 201_721,
    "views, two": 174_087,
    "views, faults": 151_124,
    "views, owners": 149_800,
    "views, joining": 15_445,
    "views, links": 456_343,
    "two RRefs": 316_969,
    "three workers": 342_762,
    "two fetches": 6_581,
    "more faults": 148_939,
    "tree, results": 175_070,
    "tree, failures": 182_402,
    "tree, fetches": 778_776,
    "views, tree": 588_251,
    "three forks: timeouts, results, shutdown": 89_144,
    "three forks: timeouts, fetches, failures": 227_497,
    "three forks: drops, failures, results": 229_387,
    "three forks: duplicates, failures, shutdown": 389_172,
    "three forks: drops, fetches, shutdown": 418_046,
    "three forks: duplicates, fetches, results": 484_773,
    "three forks: drops, duplicates, timeouts": 789_105,
    "four forks": 642_157,
    "tree, faults": 3_605_030,
}
"""The cheapest regression test a model can have."""

MISSES = {
    "P1": "fetch_pins_user",
    "P2": "entry_counts_local_references",
    "P3": "registers_atomically",
    "P4": "retries_until_answered",
    "P5": "fails_creation_as_error",
    "P6": "processes_once",
    "P7": "withdraws_failed_shares",
    "P8": "confirms_forks_from_owner",
    "P9": "registers_on_receipt",
    "P10": "timeout_is_only_an_answer",
    "P11": "fetch_pins_user",
    "G1": "user_waits_for_confirmation",
    "G2": "parent_waits_for_children",
}
"""For each property a rule without which it breaks, in the second configuration."""

SPOILT = {"G3", "P12"}
"""No rule is behind these: they break where a handler makes a mistake (tests/model/rref/test_application.py)."""


def test_sound_holds_and_everything_in_it_happens() -> None:
    answer = json.loads(farref("check", "rref", "--format", "json", "--quiet", exit_code=0))
    runs, witnesses = answer["configurations"], answer["witnesses"]
    assert {run["name"]: run["distinct"] for run in runs} == STATES
    assert {run["verdict"] for run in runs} == {one["verdict"] for one in answer["properties"]} == {"holds"}
    assert answer["distinct"] == sum(STATES.values())
    assert answer["depth"] == max(run["depth"] for run in runs)
    assert answer["never_fired"] == []
    assert witnesses.keys() == {one.id for configuration in PORTFOLIO for one in rref_witnesses(configuration.bounds)}
    assert None not in witnesses.values()


def test_every_property_misses_a_rule() -> None:
    assert MISSES.keys() | SPOILT == {one.id for one in rref_properties(PORTFOLIO[1].bounds)}


@pytest.mark.parametrize("identity", MISSES)
def test_every_property_can_fail(identity: str) -> None:
    """Some mutant breaks it: a property that holds of everything says nothing."""
    bounds = PORTFOLIO[1].bounds
    [broken] = [one for one in rref_properties(bounds) if one.id == identity]
    result = fast.check(RRefModel(bounds, SOUND.without(MISSES[identity])), (broken,))
    assert result.verdict is Verdict.VIOLATED


def test_properties_are_listed_by_id_and_kind() -> None:
    listed = rref_properties(PORTFOLIO[0].bounds)
    eventually = {one.id for one in listed if one.kind is Kind.EVENTUALLY}
    assert eventually == {"P3", "P4", "P5", "P7"}
    assert {one.id for one in listed} - eventually == {
        *("P1", "P2", "P6", "P8", "P9", "P10", "P11", "P12"),
        *("G1", "G2", "G3"),
    }


# -- combinations ------------------------------------------------------------------------------------------------------


def switches_on(bounds: Any, switches: tuple[str, ...]) -> set[str]:
    second = {"passes"} if getattr(bounds, "passes", 1) > 1 else set()
    return {name for name in switches if getattr(bounds, name)} | second


@pytest.mark.parametrize("pair", [*combinations(SWITCHES, 2)], ids=" and ".join)
def test_every_two_switches_meet_among_three_forks(pair: tuple[str, str]) -> None:
    assert any(one.bounds.forks >= 3 and {*pair} <= switches_on(one.bounds, SWITCHES) for one in PORTFOLIO)


@pytest.mark.parametrize("pair", [*combinations(("passes", *autograd.SWITCHES), 2)], ids=" and ".join)
def test_every_two_switches_of_autograd_meet(pair: tuple[str, str]) -> None:
    assert any({*pair} <= switches_on(one.bounds, autograd.SWITCHES) for one in autograd.PORTFOLIO)


@dataclass(frozen=True)
class MistakeInCombination(RRefModel):
    """A parent goes before its children are counted, but only among three forks and once two things have happened."""

    pair: tuple[str, str] = ("", "")

    def step(self, state: World, action: Action) -> World | None:
        """Take a step by the rules that then apply."""
        is_time = state.minted[0] == 3 and all(self.has_happened(name, state) for name in self.pair)
        return step(state, action, self.bounds, SOUND.without("parent_waits_for_children") if is_time else SOUND)

    def has_happened(self, name: str, state: World) -> bool:
        """Say whether what a switch allows has been made use of."""
        match name:
            case "results":
                return self.bounds.results
            case "shutdown":
                return state.closing
            case _:
                return bool(getattr(state.budgets, name) < getattr(self.bounds, name))


@pytest.mark.parametrize("pair", [*combinations(SWITCHES, 2)], ids=" and ".join)
def test_a_mistake_that_needs_two_things_to_meet_is_found(pair: tuple[str, str]) -> None:
    lines = [one for one in PORTFOLIO if one.name.startswith("three forks")]
    [line] = [one for one in lines if {*pair} <= switches_on(one.bounds, SWITCHES)]
    found = fast.check(MistakeInCombination(line.bounds, SOUND, pair), rref_properties(line.bounds))
    assert found.verdict is Verdict.VIOLATED


def test_three_children_that_do_not_pin_their_parent_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three children pin their parent, all three do not: nothing with three forks can see it."""
    original = user._release

    def release(record: user.UserRRef, *given: Any) -> user.Step:
        forgets = sum(record.children) >= 3
        return original(record._replace(children=no_ids(len(record.children))) if forgets else record, *given)

    monkeypatch.setattr(user, "_release", release)
    four = next(one for one in PORTFOLIO if one.name == "four forks")
    assert fast.check(RRefModel(four.bounds), rref_properties(four.bounds)).verdict is Verdict.VIOLATED
    three = next(one for one in PORTFOLIO if one.name == "tree, results")
    assert fast.check(RRefModel(three.bounds), rref_properties(three.bounds)).verdict is Verdict.HOLDS
