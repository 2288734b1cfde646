"""Each known defect of our own rules is found as a shortest run, by both engines, and is written and told as it happens."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from farref.commands.replay import replay_on
from farref.model.checker import fast, reference
from farref.model.checker.interface import Counterexample, Kind, Verdict
from farref.model.rref.world import Bounds
from farref.properties.protocol import AnyProtocol, Claim
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import decode, encode, record
from farref.rendering.agreement import Agreement
from farref.tlc import engine as tlc
from farref.tlc.jar import TlcUnavailable
from tests.model.play import named, states
from tests.spec.test_titles import as_heading

TEXT: Final = (Path(__file__).parents[2] / "spec" / "members.md").read_text("utf-8")
GAPS: Final = [(about, claim) for about in PROTOCOLS.values() for claim in about.gaps.values()]
SHORTEST: Final = {"C1": 8, "C2": 5, "C3": 4, "C4": 4, "C5": 4, "C6": 9}
RUN: Final = re.compile(
    r"^### (C\d)\. (.+)\n(?:.+\n|\n(?!###))*?The run, in `([^`]+)`:\n\n((?:\d+\. `.+`\n)+)", re.MULTILINE
)
WRITTEN: Final = {
    name: (title, bounds, re.findall(r"`(.+)`", steps)) for name, title, bounds, steps in RUN.findall(TEXT)
}

each_gap = pytest.mark.parametrize(("about", "claim"), GAPS, ids=[claim.id for _, claim in GAPS])


def rules_of(about: AnyProtocol, claim: Claim) -> Any:
    """The rules that break a claim: ours, or ours without one."""
    return about.rules_of("sound", claim.without)


@cache
def shortest(about: str, claim: Claim) -> Counterexample:
    """Find a shortest run of our rules to a claim."""
    found = fast.check(
        PROTOCOLS[about].model(claim.bounds, rules_of(PROTOCOLS[about], claim)), (claim.property,)
    ).counterexample
    assert found is not None
    return found


@each_gap
def test_our_rules_break_it_in_a_shortest_run(about: AnyProtocol, claim: Claim) -> None:
    assert len(shortest(about.name, claim).actions) == SHORTEST[claim.id]
    slow = reference.check(about.model(claim.bounds, rules_of(about, claim)), (claim.property,)).counterexample
    assert slow is not None
    assert len(slow.actions) == SHORTEST[claim.id]


@each_gap
def test_it_holds_where_no_link_breaks(about: AnyProtocol, claim: Claim) -> None:
    """The fault alone is behind it: in the same world without it everything holds."""
    bounds = replace(claim.bounds, cuts=0)
    found = fast.check(about.model(bounds, about.sound), about.properties(bounds))
    assert found.verdict is Verdict.HOLDS


@each_gap
def test_where_only_views_declare_dead_it_holds(about: AnyProtocol, claim: Claim) -> None:
    found = fast.check(about.model(claim.bounds, about.sound), about.properties(claim.bounds))
    assert found.verdict is Verdict.HOLDS


@each_gap
def test_it_is_written_with_its_title_and_a_shortest_run(about: AnyProtocol, claim: Claim) -> None:
    title, bounds, labels = WRITTEN[claim.id]
    assert title == as_heading(claim.title)
    assert about.bounds(**_read(bounds)) == claim.bounds
    assert len(labels) == SHORTEST[claim.id]
    model = about.model(claim.bounds, rules_of(about, claim))
    end = states(model, named(model, *labels))[-1]
    if claim.property.kind is Kind.EVENTUALLY:
        assert not any(model.step(end, action) for action in model.actions), "the run has not ended"
    assert not all(case.holds(end) for case in claim.property.cases)


def test_every_one_is_written() -> None:
    assert WRITTEN.keys() == SHORTEST.keys() == {claim.id for _, claim in GAPS}


def _read(bounds: str) -> dict[str, Any]:
    pairs = (pair.split("=") for pair in bounds.split(", "))
    return {
        name: value if name == "graph" else value == "True" if value in ("True", "False") else int(value)
        for name, value in pairs
    }


@each_gap
def test_it_means_what_it_says(about: AnyProtocol, claim: Claim) -> None:
    found = shortest(about.name, claim)
    *_, end = about.replay(about.model(claim.bounds, rules_of(about, claim)), found.actions)
    assert about.meaning(found, end) == claim.text


@each_gap
def test_what_must_hold_is_a_sentence(about: AnyProtocol, claim: Claim) -> None:
    assert re.fullmatch(r"[A-Z`].+\.", claim.must_hold())
    assert claim.clause.startswith("R" if about.name == "rref" else "A")


@each_gap
def test_its_run_can_be_kept_and_read_again(about: AnyProtocol, claim: Claim) -> None:
    found = shortest(about.name, claim)
    trace = record(claim.bounds, "sound", claim.without, found)
    assert decode(encode(trace)) == trace


def test_what_a_broken_link_ends_is_told() -> None:
    """The story of C1: who gives up what, and that nobody is told."""
    about, claim = PROTOCOLS["rref"], PROTOCOLS["rref"].gaps["C1"]
    model = about.model(claim.bounds, rules_of(about, claim))
    told = [about.tell(moment) for moment in about.replay(model, named(model, *WRITTEN["C1"][2]))]
    assert told[3] == (
        "the link between B and C breaks, and each takes the other for dead; "
        "the call on C that waited for f1 does not run; C gives f1 up, and tells nobody"
    )


BREAKS: Final = {
    "retries_until_answered": "breaks",
    "sends_again_after_a_break": "breaks; calls on it are lost",
    "takes_calls_once": "breaks; calls that were taken over it come again",
}
"""What is told of a link that breaks, by the rule that is left out."""
ONE_CUT: Final[dict[str, tuple[dict[str, Any], str, str]]] = {
    "rref": ({"workers": 2, "cuts": 1}, "Cut(B, A)", "the link between B and A"),
    "autograd": ({"graph": "there-and-back", "cuts": 1}, "Cut(A, B)", "the link between A and B"),
}


@pytest.mark.parametrize("without", BREAKS)
@pytest.mark.parametrize("protocol", ONE_CUT)
def test_what_rules_do_to_a_broken_link_is_told(protocol: str, without: str) -> None:
    about, (bounds, step, link) = PROTOCOLS[protocol], ONE_CUT[protocol]
    model = about.model(about.bounds(**bounds), replace(about.sound, **{without: False}))
    (moment,) = about.replay(model, named(model, step))
    assert about.tell(moment) == f"{link} {BREAKS[without]}"


def test_workers_get_familiar_names_where_links_break() -> None:
    bounds = Bounds(workers=4, cuts=1)
    model = PROTOCOLS["rref"].model(bounds, PROTOCOLS["rref"].sound)
    run = named(model, "CreateRemote(x0, D)", "Cut(A, D)", "Deliver(RemoteCall(f0))")
    assert [str(one) for one in PROTOCOLS["rref"].familiar(bounds, run)][1] == "Cut(A, C)"


@pytest.mark.usefixtures("tlc_is_here")
@pytest.mark.parametrize("claim", PROTOCOLS["autograd"].gaps.values(), ids=PROTOCOLS["autograd"].gaps)
def test_tlc_finds_it_too(claim: Claim) -> None:
    shown = tlc.check(claim.bounds, rules_of(PROTOCOLS["autograd"], claim), (claim.property,)).counterexample
    assert shown is not None
    assert len(shown.actions) == SHORTEST[claim.id]


@pytest.mark.parametrize("claim", PROTOCOLS["rref"].gaps.values(), ids=PROTOCOLS["rref"].gaps)
def test_tlc_refuses_it_in_one_line(claim: Claim) -> None:
    with pytest.raises(TlcUnavailable, match=r"^in RRef\.tla no link breaks; leave out --cuts$"):
        tlc.check(claim.bounds, rules_of(PROTOCOLS["rref"], claim), (claim.property,))


@each_gap
def test_an_implementation_is_driven_through_it_if_a_broken_link_is_no_death_there(
    about: AnyProtocol, claim: Claim
) -> None:
    run = record(claim.bounds, "sound", claim.without, shortest(about.name, claim))
    assert replay_on(run, "simulated").verdict is Agreement.AGREED
