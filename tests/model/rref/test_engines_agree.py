"""The two engines tell the same of the RRef model: verdicts, states, depth, coverage and the length of what they found."""

from __future__ import annotations

import pytest

from farref.model.checker import fast, reference
from farref.model.checker.interface import Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_LINKS, OF_VIEWS, RULES, SOUND, TORCH, RRefRules
from farref.model.rref.world import Bounds
from farref.properties.protocol import Claim
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.sometimes import rref_witnesses

SMALL = {
    "one fork, everything": Bounds(2, forks=1, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, shutdown=True),
    "faults": Bounds(2, forks=2, drops=1, duplicates=1),
    "calls": Bounds(3, forks=2, failures=1, results=True),
    "fetches": Bounds(2, forks=2, fetches=1, timeouts=1),
    "two RRefs": Bounds(2, rrefs=2, forks=1, drops=1),
    "three forks": Bounds(2, forks=3),
    "a view": Bounds(3, forks=1, exclusions=1),
    "a view and every fault": Bounds(
        2, forks=1, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, exclusions=1
    ),
    "a lost owner": Bounds(2, forks=2, fetches=1, exclusions=1, self_shares=False, lost_owners=True),
    "somebody joins": Bounds(3, forks=1, exclusions=1, joins=1),
    "a broken link": Bounds(2, forks=2, fetches=1, cuts=1, self_shares=False),
    "a broken link between users": Bounds(3, forks=2, cuts=1, owner_shares=False, self_shares=False),
    "a view and a broken link": Bounds(2, forks=1, fetches=1, failures=1, cuts=1, exclusions=1),
}


def agree(bounds: Bounds, rules: RRefRules, *, symmetry: bool = False) -> None:
    model, properties = RRefModel(bounds, rules), (*rref_properties(bounds), *rref_witnesses(bounds))
    for stop in (False, True):
        one = reference.check(model, properties, symmetry=symmetry, stop_at_violation=stop)
        other = fast.check(model, properties, symmetry=symmetry, stop_at_violation=stop)
        for name in ("verdict", "distinct", "generated", "depth", "verdicts", "coverage"):
            assert getattr(one, name) == getattr(other, name), name
        lengths = [{id_: len(found.actions) for id_, found in run.counterexamples.items()} for run in (one, other)]
        assert lengths[0] == lengths[1]
        witnesses = [{id_: len(actions) for id_, actions in run.witnesses.items()} for run in (one, other)]
        assert witnesses[0] == witnesses[1]
        if one.verdict is Verdict.HOLDS:
            return  # there is no violation to stop at


@pytest.mark.parametrize("bounds", SMALL.values(), ids=SMALL)
@pytest.mark.parametrize("rules", [SOUND, TORCH], ids=["sound", "torch"])
def test_on_both_profiles(bounds: Bounds, rules: RRefRules) -> None:
    agree(bounds, rules)


@pytest.mark.parametrize("rule", RULES)
def test_on_every_mutant(rule: str) -> None:
    agree(SMALL["one fork, everything"], SOUND.without(rule))


@pytest.mark.parametrize("rule", OF_VIEWS)
def test_on_every_mutant_about_views(rule: str) -> None:
    agree(SMALL["a view"], SOUND.without(rule))


@pytest.mark.parametrize("rule", OF_LINKS)
def test_on_every_mutant_about_links(rule: str) -> None:
    agree(SMALL["a broken link between users"], SOUND.without(rule))


def test_under_symmetry_where_a_link_breaks() -> None:
    agree(Bounds(4, forks=1, cuts=1, owner_shares=False), SOUND, symmetry=True)


def test_under_symmetry_where_somebody_is_excluded() -> None:
    agree(Bounds(4, forks=1, exclusions=1), SOUND, symmetry=True)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_on_every_claim(claim: Claim) -> None:
    model = RRefModel(claim.bounds, TORCH)
    one, other = (engine.check(model, (claim.property,)) for engine in (reference, fast))
    assert one.counterexample is not None
    assert other.counterexample is not None
    assert len(one.counterexample.actions) == len(other.counterexample.actions)
    assert (one.distinct, one.depth, one.verdict) == (other.distinct, other.depth, other.verdict)


def test_under_symmetry() -> None:
    agree(Bounds(4, forks=2, drops=1, self_shares=False), SOUND, symmetry=True)


def test_under_symmetry_where_links_break() -> None:
    agree(Bounds(3, forks=1, cuts=2), SOUND, symmetry=True)


def test_symmetry_loses_no_verdict() -> None:
    bounds = Bounds(4, forks=2, duplicates=1, self_shares=False)
    properties = rref_properties(bounds)
    for rules in (SOUND, TORCH, SOUND.without("processes_once")):
        full, reduced = (
            fast.check(RRefModel(bounds, rules), properties, symmetry=flag, stop_at_violation=False)
            for flag in (False, True)
        )
        assert full.verdicts == reduced.verdicts
        assert reduced.distinct < full.distinct / 3
