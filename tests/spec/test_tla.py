"""The TLA+ twin: TLC finds the same states as our engines, and the same of them broken.

Each run surveys a small world: TLC goes through all its states and prints which properties it saw broken. The twin keeps sets
where the model keeps tables, and derives what the model stores, but its steps are those of the model. So equal counts are
evidence for the engines and against slips in either text; they say nothing of what both leave out.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any, Final

import pytest

from farref.model.checker import fast
from farref.model.checker.interface import Budget
from farref.model.checker.run import Run
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_MEMBERS, RULES, SOUND, TORCH, RRefRules
from farref.model.rref.world import Bounds
from farref.properties.proof.rref.state import State
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.tlc import engine as tlc
from farref.tlc import rref as rref_tlc
from farref.tlc.claims import REFINEMENT, module_for
from farref.tlc.invariant import operator
from tests.spec.dumped import assert_same_graph
from tests.spec.surveyed import Found, found, surveyed

TLA: Final = Path(__file__).parents[2] / "spec" / "tla"
SURVEY: Final = ("TypeOK", "QuietIsTheEnd", "Survey")
EVERYTHING: Final = Bounds(2, 1, 1, 1, 1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True)
THREE: Final = Bounds(3, forks=2, self_shares=False)

CONFIGURATIONS: Final = {
    "everything, sound": (EVERYTHING, SOUND),
    "everything, torch": (EVERYTHING, TORCH),
    "two RRefs, sound": (Bounds(2, rrefs=2, forks=1, fetches=1), SOUND),
    "two RRefs, torch": (Bounds(3, rrefs=2, forks=1), TORCH),
    "three forks, sound": (Bounds(3, forks=3, owner_shares=False, self_shares=False), SOUND),
    "results, sound": (Bounds(2, forks=2, results=True, failures=1), SOUND),
    "drops and duplicates, torch": (Bounds(2, forks=2, drops=1, duplicates=1), TORCH),
}
MUTANT_BOUNDS: Final = {
    "registers_on_receipt": Bounds(2, forks=2, results=True),
    "registers_atomically": Bounds(2, forks=2, results=True),
    "entry_waits_for_creation": Bounds(2, forks=3, owner_shares=False),
    "entry_counts_local_references": Bounds(2, rrefs=2, forks=1),
    "owner_registers_shares": Bounds(2, forks=2),
    "confirms_forks_from_owner": Bounds(2, forks=1, fetches=1),
    "accepts_after_confirmation": THREE,
    "accepts_before_user_code": Bounds(3, forks=2, self_shares=False, shutdown=True),
    "parent_waits_for_children": THREE,
    "user_waits_for_confirmation": Bounds(2, forks=2),
    "fetch_pins_user": Bounds(2, forks=1, fetches=1, timeouts=1),
    "timeout_is_only_an_answer": Bounds(2, forks=1, timeouts=1),
    "withdraws_failed_shares": Bounds(3, forks=2, failures=1, self_shares=False),
    "fails_creation_as_error": Bounds(2, forks=2, failures=1),
    "processes_once": Bounds(3, forks=2, duplicates=1, self_shares=False),
    "retries_until_answered": Bounds(2, forks=2, drops=1),
}
"""For each rule a small world in which it is missed."""


pytestmark = [pytest.mark.long, pytest.mark.usefixtures("tlc_is_here")]


def survey(bounds: Bounds, rules: RRefRules, *, symmetry: bool = False) -> Found:
    return surveyed(heard(bounds, rules, SURVEY, symmetry=symmetry))


def heard(
    bounds: Bounds, rules: RRefRules, claims: tuple[str, ...], *options: str, symmetry: bool = False
) -> tlc.Listener:
    listener = tlc.Listener(Run("tlc", RRefModel(bounds, rules), (), Budget()))
    config = tlc.render_config(bounds, rules, claims, symmetry=symmetry)
    tlc.run_tlc(config, listener, options=options, module=module_for(claims))
    return listener


def ours(bounds: Bounds, rules: RRefRules, *, symmetry: bool = False) -> Found:
    """What our fast engine finds; that the reference engine finds the same is tested in `tests/model/rref`."""
    model, properties = RRefModel(bounds, rules), rref_properties(bounds)
    return found(fast.check(model, properties, symmetry=symmetry, stop_at_violation=False))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_tlc_finds_the_same_states_and_verdicts(name: str) -> None:
    bounds, rules = CONFIGURATIONS[name]
    assert survey(bounds, rules) == ours(bounds, rules)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in OF_MEMBERS])
def test_tlc_catches_the_same_in_every_mutant(rule: str) -> None:
    bounds, rules = MUTANT_BOUNDS[rule], SOUND.without(rule)
    by_tlc = survey(bounds, rules)
    assert by_tlc.broken, f"nothing is missed without {RRefRules.clause_of(rule)}"
    assert by_tlc == ours(bounds, rules)


@pytest.mark.parametrize(
    "bounds",
    [Bounds(4, forks=2, self_shares=False), Bounds(3, forks=2, results=True)],
    ids=["three others", "two others"],
)
def test_tlc_reduces_by_the_same_symmetry(bounds: Bounds) -> None:
    whole, reduced = ours(bounds, TORCH), survey(bounds, TORCH, symmetry=True)
    assert reduced == ours(bounds, TORCH, symmetry=True)
    assert reduced.distinct < whole.distinct
    assert reduced.broken == whole.broken


def test_tlc_finds_the_same_number_of_states_in_a_large_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")  # not a short run
    bounds = Bounds(2, 1, 2, 1, 1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True)
    by_fast = found(fast.check(RRefModel(bounds), ()))
    assert found(tlc.check(bounds, SOUND, (), workers=1)) == by_fast
    assert by_fast.distinct > 100_000


@pytest.mark.parametrize("rules", [SOUND, TORCH], ids=["sound", "torch"])
def test_every_state_of_tlc_is_one_world_and_so_is_every_step(rules: RRefRules, tmp_path: Path) -> None:
    """Equal counts would not show a step that leads to the wrong one of two states."""
    heard(EVERYTHING, rules, (), "-dump", "dot", str(tmp_path / "graph"))
    model = RRefModel(EVERYTHING, rules)
    read, twin = (lambda text: frozen(rref_tlc.read_state(text))), (lambda world: frozen(rref_tlc.twin_of(world)))
    assert_same_graph(tmp_path / "graph.dot", model, read, twin)


def frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return frozenset((key, frozen(part)) for key, part in value.items())
    return frozenset(map(frozen, value)) if isinstance(value, set) else value


# -- every run ---------------------------------------------------------------------------------------------------------

LIVE_WORLD: Final = Bounds(2, forks=2, drops=1)
LIVE: Final = ("P3Live", "P4Live", "P5Live", "P7Live", "FreesLive")


@pytest.mark.parametrize("bounds", [EVERYTHING, LIVE_WORLD], ids=["everything", "two forks"])
def test_what_holds_at_the_end_holds_in_temporal_logic(bounds: Bounds) -> None:
    listener = heard(bounds, SOUND, LIVE)
    assert listener.run.complete, "".join(listener.said)
    assert not survey(bounds, SOUND).broken


@pytest.mark.parametrize("name", ["P3", "P4", "P5"])
def test_what_is_broken_at_the_end_is_broken_in_temporal_logic(name: str) -> None:
    rules = SOUND.without("retries_until_answered")
    listener = heard(LIVE_WORLD, rules, (f"{name}Live",))
    assert is_violated(listener) is (name in ours(LIVE_WORLD, rules).broken)


def test_a_value_that_nobody_refers_to_can_stay_for_ever_if_nothing_is_sent_again() -> None:
    assert is_violated(heard(LIVE_WORLD, SOUND.without("retries_until_answered"), ("FreesLive",)))


def is_violated(listener: tlc.Listener) -> bool:
    found = any(re.search(r"Temporal properties were violated|property .* is violated", text) for text in listener.said)
    assert found is not listener.run.complete, "".join(listener.said)
    return found


# -- the invariant of the proof, and the abstract machine --------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds",
    [EVERYTHING, Bounds(2, forks=2, drops=1), Bounds(2, rrefs=2, forks=1, fetches=1)],
    ids=["everything", "two forks", "two RRefs"],
)
def test_every_state_satisfies_the_invariant_and_every_step_is_one_of_the_abstract_machine(bounds: Bounds) -> None:
    listener = heard(bounds, SOUND, ("IndInv", REFINEMENT))
    assert listener.run.complete, "".join(listener.said)


@pytest.mark.parametrize("rule", ["parent_waits_for_children", "entry_waits_for_creation", "fetch_pins_user"])
def test_without_a_rule_a_value_is_freed_under_a_reference(rule: str) -> None:
    assert is_violated(heard(MUTANT_BOUNDS[rule], SOUND.without(rule), (REFINEMENT,)))


def test_without_a_rule_the_invariant_is_lost() -> None:
    rule = "parent_waits_for_children"
    assert heard(MUTANT_BOUNDS[rule], SOUND.without(rule), ("IndInv",)).broken == "IndInv"


def test_every_fact_of_the_proof_is_one_of_the_module() -> None:
    text = (TLA / "RRefFacts.tla").read_text()
    known = set(re.findall(r"^(Is\w+)\(", text, re.MULTILINE))
    assert known == {operator(one.name) for one in State.vocabulary()} | {operator("for_owner")}


def test_the_readme_names_the_version_of_tlc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tlc.OWN_JAR, raising=False)  # it speaks of the one that is installed with farref
    version = heard(Bounds(1, forks=0), SOUND, ("TypeOK",)).version
    number = version.removeprefix("TLC2 Version ").split()[0]
    assert f"TLC {number}" in (TLA.parent / "README.md").read_text()


def all_properties() -> list[str]:
    return [one.id for one in rref_properties(Bounds(shutdown=True))]


def test_every_property_and_claim_has_a_twin() -> None:
    assert {*all_properties(), *CLAIMS} <= tlc.defined_names()
