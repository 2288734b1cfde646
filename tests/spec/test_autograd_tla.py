"""The TLA+ twin of distributed autograd: TLC finds the same states as our engines, and the same of them broken.

The twin keeps sets where the model keeps tables, and its ledger is two sets where the model's is one column, but its steps are
those of the model. So equal counts are evidence for the engines; they say nothing of what both leave out.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Final

import pytest

from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import SOUND, TORCH, AutogradRules
from farref.model.autograd.world import Bounds
from farref.model.checker import fast
from farref.model.checker.interface import Budget
from farref.model.checker.run import Run
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.claims import CLAIMS
from farref.tlc import autograd as autograd_tlc
from farref.tlc import engine as tlc
from tests.spec.dumped import assert_same_graph
from tests.spec.surveyed import Found, found, surveyed

SURVEY: Final = ("TypeOK", "Survey")
RELEASE: Final = Bounds("there-and-back", timeouts=1, failures=1, detached=1, forward=True, release=True)
FAULTS: Final = Bounds("chain", passes=2, drops=1, duplicates=1, timeouts=1, failures=1)
SEVERING: Final = SOUND.without("only_views_declare_dead")
MEMBERS: Final = Bounds("there-and-back", failures=1, cuts=1, exclusions=1, forward=True, release=True)
DEATHS: Final = Bounds("there-and-back", drops=1, failures=1, crashes=1, cuts=1, forward=True, release=True)

CONFIGURATIONS: Final = {
    "every graph, sound": (Bounds(workers=2, pairs=1, timeouts=1), SOUND),
    "faults, sound": (FAULTS, SOUND),
    "half used, sound": (Bounds("half-used", duplicates=1, timeouts=1, failures=1, smart=True), SOUND),
    "hidden path, sound": (Bounds("hidden-path", timeouts=1, smart=True), SOUND),
    "two starters, sound": (Bounds("two-starters", passes=2, timeouts=1, smart=True), SOUND),
    "release, sound": (RELEASE, SOUND),
    "a death in a pass, sound": (Bounds("two-starters", passes=2, crashes=1, smart=True), SOUND),
    "the death of the creator, sound": (Bounds("CB: B>r0 s0>C", crashes=1), SOUND),
    "a death before the release, sound": (Bounds("AB AC CB: B>r2 s2>C", crashes=1, release=True), SOUND),
    "a death and a broken link, sound": (Bounds("chain", passes=2, drops=1, crashes=1, cuts=1), SOUND),
    "a broken link, sound": (Bounds("AB BC: A>A", cuts=1, forward=True, release=True), SOUND),
    "a death and a severed link": (Bounds("chain", passes=2, drops=1, crashes=1, cuts=1), SEVERING),
    "a severed link": (Bounds("AB BC: A>A", cuts=1, forward=True, release=True), SEVERING),
    "an excluded root, sound": (Bounds("two-starters", passes=2, exclusions=1, smart=True), SOUND),
    "the creator is excluded, sound": (Bounds("CB: B>r0 s0>C", drops=1, exclusions=1), SOUND),
    "an exclusion before the release, sound": (Bounds("AB AC CB: B>r2 s2>C", exclusions=1, release=True), SOUND),
    "an exclusion among calls, sound": (Bounds("AB BC: A>A", exclusions=1, forward=True, release=True), SOUND),
    "two exclusions, sound": (Bounds("two-branches", exclusions=2), SOUND),
    "every loss, sound": (Bounds("chain", timeouts=1, crashes=1, cuts=1, exclusions=1), SOUND),
    "a death, torch": (Bounds("there-and-back", crashes=1, forward=True, release=True), TORCH),
    "diamond, torch": (Bounds("diamond", passes=2, timeouts=1), TORCH),
    "release, torch": (Bounds("there-and-back", forward=True, release=True), TORCH),
    "unused result, torch": (Bounds("unused-result", duplicates=1, timeouts=1, failures=1), TORCH),
}
SMART: Final = Bounds("half-used", passes=2, timeouts=1, smart=True)
MUTANT_BOUNDS: Final = {
    "sender_decides_pairing": Bounds("there-and-back", detached=1, forward=True),
    "one_pass_at_a_time": Bounds("two-starters", passes=2, timeouts=1, smart=True),
    "passes_have_identity": Bounds("there-and-back", passes=2, timeouts=1),
    "newer_pass_supersedes": Bounds("chain", passes=2, timeouts=1),
    "takes_effect_once": Bounds("chain", duplicates=1),
    "retries_until_answered": Bounds("chain", drops=1),
    "notices_standstill": Bounds("unused-result"),
    "marks_before_pruning": SMART,
    "stages_until_commit": Bounds("chain", passes=2, timeouts=1),
    "returns_after_commit": Bounds("chain", passes=2),
    "decision_is_final": Bounds("chain", timeouts=1),
    "aborts_everywhere": Bounds("unused-result", timeouts=1),
    "answers_latecomers": Bounds("chain", timeouts=1),
    "release_ends_passes": Bounds("there-and-back", forward=True, release=True),
    "forgets_when_drained": Bounds("there-and-back", forward=True, release=True),
    "sends_again_after_a_break": Bounds("AB BC: A>A", cuts=1, forward=True, release=True),
    "takes_calls_once": Bounds("AB BC: A>A", cuts=1, forward=True, release=True),
    "only_views_declare_dead": Bounds("CB: B>r0 s0>C", cuts=1),
    "refuses_the_excluded": Bounds("there-and-back", exclusions=1, forward=True, release=True),
    "keeps_the_id_until_unheard": Bounds("AB BC: A>A", exclusions=1, forward=True, release=True),
    "raises_when_excluded": Bounds("chain", exclusions=1),
}
"""For each rule a small world in which it is missed."""

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("tlc_is_here")]


def heard(bounds: Bounds, rules: AutogradRules, claims: tuple[str, ...], *options: str) -> tlc.Listener:
    listener = tlc.Listener(Run("tlc", AutogradModel(bounds, rules), (), Budget()))
    config, graphs = autograd_tlc.render_config(bounds, rules, claims), autograd_tlc.graphs_module(bounds)
    tlc.run_tlc(config, listener, options=options, module="MCAutograd", files={"AutogradGraphs.tla": graphs})
    return listener


def survey(bounds: Bounds, rules: AutogradRules) -> Found:
    return surveyed(heard(bounds, rules, SURVEY))


def ours(bounds: Bounds, rules: AutogradRules) -> Found:
    """What our fast engine finds; that the reference engine finds the same is tested in `tests/model/autograd`."""
    model, properties = AutogradModel(bounds, rules), autograd_properties(bounds)
    return found(fast.check(model, properties, stop_at_violation=False))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_tlc_finds_the_same_states_and_verdicts(name: str) -> None:
    bounds, rules = CONFIGURATIONS[name]
    assert survey(bounds, rules) == ours(bounds, rules)


@pytest.mark.parametrize("rule", [rule.name for rule in fields(AutogradRules)])
def test_tlc_catches_the_same_in_every_mutant(rule: str) -> None:
    bounds, rules = MUTANT_BOUNDS[rule], replace(SOUND, **{rule: False})
    by_tlc = survey(bounds, rules)
    assert by_tlc.broken, f"nothing is missed without {rule}"
    assert by_tlc == ours(bounds, rules)


@pytest.mark.parametrize(
    ("bounds", "rules"),
    [
        (RELEASE, SOUND),
        (Bounds("half-used", drops=1, timeouts=1, smart=True), SOUND),
        (DEATHS, SEVERING),
        (MEMBERS, SOUND),
        (CONFIGURATIONS["diamond, torch"]),
    ],
    ids=["release, sound", "smart, sound", "deaths, severing", "members, sound", "diamond, torch"],
)
def test_every_state_of_tlc_is_one_world_and_so_is_every_step(
    bounds: Bounds, rules: AutogradRules, tmp_path: Path
) -> None:
    """Equal counts would not show a step that leads to the wrong one of two states."""
    heard(bounds, rules, (), "-dump", "dot", str(tmp_path / "graph"))
    model, read = AutogradModel(bounds, rules), autograd_tlc.read_state
    assert_same_graph(tmp_path / "graph.dot", model, read, lambda world: autograd_tlc.twin_of(world, bounds))


@pytest.mark.parametrize(
    ("bounds", "rules"),
    [
        (RELEASE, SOUND),
        (MEMBERS, SOUND),
        CONFIGURATIONS["unused result, torch"],
        CONFIGURATIONS["a death and a severed link"],
    ],
)
def test_a_run_ends_where_the_module_says(bounds: Bounds, rules: AutogradRules) -> None:
    listener = heard(bounds, rules, ("QuietIsTheEnd",))
    assert listener.run.complete, "".join(listener.said)


LIVE: Final = ("L1Live", "L3Live", "L4Live")


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds("there-and-back", forward=True, release=True),
        Bounds("chain", passes=2, drops=1, timeouts=1),
        Bounds("CB: B>r0 s0>C", cuts=1, exclusions=1),
    ],
    ids=["release", "two passes", "members"],
)
def test_what_holds_at_the_end_holds_in_temporal_logic(bounds: Bounds) -> None:
    listener = heard(bounds, SOUND, LIVE)
    assert listener.run.complete, "".join(listener.said)


@pytest.mark.parametrize(
    ("rule", "name"), [("notices_standstill", "L1"), ("aborts_everywhere", "L3"), ("retries_until_answered", "L1")]
)
def test_what_is_broken_at_the_end_is_broken_in_temporal_logic(rule: str, name: str) -> None:
    listener = heard(MUTANT_BOUNDS[rule], replace(SOUND, **{rule: False}), (f"{name}Live",))
    assert any("Temporal properties were violated" in text for text in listener.said), "".join(listener.said)


def test_every_property_and_claim_has_a_twin() -> None:
    assert {*(one.id for one in autograd_properties(Bounds(passes=2))), *CLAIMS} <= tlc.defined_names()
