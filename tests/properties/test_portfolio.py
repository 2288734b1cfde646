"""The standard portfolio: SOUND holds on all of it, nothing in it is vacuous, and every mutant is caught in it."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Kind, Result, Verdict
from farref.model.rref import RRefModel
from farref.model.rules import RULES, SOUND, RRefRules, without
from farref.properties.portfolio import PORTFOLIO, Configuration
from farref.properties.rref import rref_properties
from farref.properties.sometimes import rref_witnesses

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


@cache
def search(configuration: Configuration, rules: RRefRules) -> Result:
    bounds = configuration.bounds
    return fast.check(RRefModel(bounds, rules), (*rref_properties(bounds), *rref_witnesses(bounds)))


@pytest.mark.parametrize("configuration", PORTFOLIO, ids=lambda configuration: configuration.name)
def test_sound_holds(configuration: Configuration) -> None:
    result = search(configuration, SOUND)
    assert result.verdict is Verdict.HOLDS, result.verdicts
    assert result.distinct == STATES[configuration.name]


def test_together_they_fire_every_action_and_reach_every_witness() -> None:
    fired: Counter[str] = Counter()
    wanted: set[str] = set()
    reached: set[str] = set()
    for configuration in PORTFOLIO:
        result = search(configuration, SOUND)
        fired.update(result.coverage)
        wanted |= {witness.id for witness in rref_witnesses(configuration.bounds)}
        reached |= set(result.witnesses)
    assert [action for action, count in fired.items() if not count] == []
    assert wanted == reached
    assert max(STATES.values()) >= 10**6


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_necessary(rule: str) -> None:
    """Without it, something breaks in one of the configurations."""
    for configuration in PORTFOLIO:
        properties = rref_properties(configuration.bounds)
        result = fast.check(RRefModel(configuration.bounds, without(rule)), properties)
        if result.verdict is Verdict.VIOLATED:
            return
    pytest.fail(f"nothing goes wrong without {rule}, so it is not a rule")


@pytest.mark.parametrize("identity", ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "G1", "G2"])
def test_every_property_can_fail(identity: str) -> None:
    """Some mutant breaks it: a property that holds of everything says nothing."""
    for configuration in PORTFOLIO[:4]:
        wanted = [one for one in rref_properties(configuration.bounds) if one.id == identity]
        for rule in RULES:
            if (
                wanted
                and fast.check(RRefModel(configuration.bounds, without(rule)), wanted).verdict is Verdict.VIOLATED
            ):
                return
    pytest.fail(f"no mutant breaks {identity}")


def test_properties_are_listed_by_id_and_kind() -> None:
    listed = rref_properties(PORTFOLIO[0].bounds)
    eventually = {one.id for one in listed if one.kind is Kind.EVENTUALLY}
    assert eventually == {"P3", "P4", "P5", "P7"}
    assert {one.id for one in listed} - eventually == {"P1", "P2", "P6", "P8", "P9", "P10", "G1", "G2"}
