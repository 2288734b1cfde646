"""The standard portfolio: SOUND holds on all of it, nothing in it is vacuous, and every property can fail in it.

It is searched once, by the command everybody begins with. That every rule is needed in it is what the table of rules in
spec/README.md says, and `tests/test_generated.py` makes that table anew.
"""

from __future__ import annotations

import json

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Kind, Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import without
from farref.properties.rref.always import rref_properties
from farref.properties.rref.portfolio import PORTFOLIO
from farref.properties.rref.sometimes import rref_witnesses
from tests.generated import farref

STATES = {
    "one fork": 3_568,
    "two forks": 186_404,
    "two RRefs": 316_969,
    "three workers": 342_762,
    "two fetches": 6_581,
    "more faults": 148_939,
    "tree, results": 175_070,
    "tree, failures": 182_402,
    "tree, fetches": 778_776,
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
    "G1": "user_waits_for_confirmation",
    "G2": "parent_waits_for_children",
}
"""For each property a rule without which it breaks, in the second configuration."""


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
    assert MISSES.keys() == {one.id for one in rref_properties(PORTFOLIO[1].bounds)}


@pytest.mark.parametrize("identity", MISSES)
def test_every_property_can_fail(identity: str) -> None:
    """Some mutant breaks it: a property that holds of everything says nothing."""
    bounds = PORTFOLIO[1].bounds
    [broken] = [one for one in rref_properties(bounds) if one.id == identity]
    result = fast.check(RRefModel(bounds, without(MISSES[identity])), (broken,))
    assert result.verdict is Verdict.VIOLATED


def test_properties_are_listed_by_id_and_kind() -> None:
    listed = rref_properties(PORTFOLIO[0].bounds)
    eventually = {one.id for one in listed if one.kind is Kind.EVENTUALLY}
    assert eventually == {"P3", "P4", "P5", "P7"}
    assert {one.id for one in listed} - eventually == {"P1", "P2", "P6", "P8", "P9", "P10", "G1", "G2"}
