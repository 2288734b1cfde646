"""Traces: written, read, and taken again. What damaged ones are answered is in tests/farref/test_bad_input.py."""

from __future__ import annotations

import json

import pytest

from farref.model.checker.interface import Counterexample, Kind
from farref.model.checker.reference import check
from farref.model.rref import RRefModel
from farref.model.rules import TORCH
from farref.model.world import Bounds
from farref.properties.claims import CLAIMS, Claim
from farref.properties.replay import Fate
from farref.properties.rref import rref_properties
from farref.properties.trace import FORMAT, TraceError, decode, encode, record


def counterexample(claim: Claim) -> Counterexample:
    found = check(RRefModel(claim.bounds, TORCH), [claim.property]).counterexample
    assert found is not None
    return found


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_trace_survives_the_journey(claim: Claim) -> None:
    trace = record(claim.bounds, "torch", None, counterexample(claim))
    assert decode(encode(trace)) == trace
    assert json.loads(encode(trace))["format"] == FORMAT


def test_what_is_received_was_sent() -> None:
    """Every message that ends was sent by an earlier step, between the same workers."""
    for claim in CLAIMS.values():
        flying = set()
        for step in record(claim.bounds, "torch", None, counterexample(claim)).steps:
            assert step.message is None or step.message in flying
            if step.message is not None and step.fate is not Fate.DUPLICATED:
                flying.remove(step.message)
            flying |= set(step.sent)


def test_sentences_are_made_anew() -> None:
    trace = record(CLAIMS["N2"].bounds, "torch", None, counterexample(CLAIMS["N2"]))
    edited = json.loads(encode(trace))
    edited["steps"][0]["text"] = "It was a dark and stormy night"
    assert decode(json.dumps(edited).encode()) == trace


def test_an_eventuality_needs_an_end() -> None:
    """A run that could go on does not show that something never happens."""
    bounds = Bounds(workers=2, forks=1)
    model = RRefModel(bounds, TORCH)
    [released] = [one for one in rref_properties(bounds) if one.id == "P3"]
    create = next(action for action in model.actions if str(action) == "CreateLocal(x0)")
    early = Counterexample(released, released.cases[0].label, (create,))
    with pytest.raises(TraceError, match="step 1 is not the end"):
        decode(encode(record(bounds, "torch", None, early)))


def test_a_loop_must_lead_back() -> None:
    bounds = Bounds(workers=2, forks=1)
    model = RRefModel(bounds, TORCH)
    [released] = [one for one in rref_properties(bounds) if one.id == "P3"]
    assert released.kind is Kind.EVENTUALLY
    create = next(action for action in model.actions if str(action) == "CreateLocal(x0)")
    loop = Counterexample(released, released.cases[0].label, (create,), loop_start=0)
    with pytest.raises(TraceError, match="does not lead back"):
        decode(encode(record(bounds, "torch", None, loop)))
