"""Traces: written, read, and taken again. What damaged ones are answered is in tests/farref/commands/test_bad_input.py."""

from __future__ import annotations

import json

import pytest

from farref.model.checker.interface import Case, Counterexample, Kind
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import TORCH
from farref.model.rref.world import Bounds
from farref.properties.protocol import Claim
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.traces.disagreement import record_disagreement
from farref.properties.traces.file import (
    FORMAT,
    MessageRecord,
    TraceError,
    _refuse_unfinished,
    decode,
    encode,
    record,
)
from farref.properties.traces.replay import Fate
from farref.properties.twin.twin import Disagreement
from tests.model.play import named, states
from tests.properties.rref.known import shortest

SMALL = Bounds(workers=2, forks=1)
[RELEASED] = [one for one in rref_properties(SMALL) if one.id == "P3"]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_trace_survives_the_journey(claim: Claim) -> None:
    trace = record(claim.bounds, "torch", None, shortest(claim))
    assert decode(encode(trace)) == trace
    assert json.loads(encode(trace))["format"] == FORMAT


def test_what_is_received_was_sent() -> None:
    """Every message that ends was sent by an earlier step, between the same workers."""
    for claim in CLAIMS.values():
        flying: set[MessageRecord] = set()
        for step in record(claim.bounds, "torch", None, shortest(claim)).steps:
            assert step.message is None or step.message in flying
            if step.message is not None and step.fate is not Fate.DUPLICATED:
                flying.remove(step.message)
            flying |= set(step.sent)


def test_sentences_are_made_anew() -> None:
    trace = record(CLAIMS["N2"].bounds, "torch", None, shortest(CLAIMS["N2"]))
    edited = json.loads(encode(trace))
    edited["steps"][0]["text"] = "It was a dark and stormy night"
    assert decode(json.dumps(edited).encode()) == trace


def test_a_disagreement_is_kept_and_other_files_do_not_have_the_field() -> None:
    found = Disagreement(SMALL, "mine", tuple(named(RRefModel(SMALL), "CreateLocal(x0)")), ("mine  is wrong",), "why")
    trace = record_disagreement(found)
    assert decode(encode(trace)) == trace
    kept = json.loads(encode(trace))
    assert kept["disagreement"] == {"backend": "mine", "difference": ["mine  is wrong"], "violated": [], "note": "why"}
    del kept["disagreement"]
    assert decode(json.dumps(kept).encode()).disagreement is None, "files of before can be read"
    assert "disagreement" not in json.loads(encode(record(CLAIMS["N2"].bounds, "torch", None, shortest(CLAIMS["N2"]))))


def created(loop_start: int | None) -> Counterexample:
    """A run of one step that is said to show that an RRef is never released."""
    assert RELEASED.kind is Kind.EVENTUALLY
    create = named(RRefModel(SMALL, TORCH), "CreateLocal(x0)")
    return Counterexample(RELEASED, RELEASED.cases[0].label, tuple(create), loop_start)


def test_an_eventuality_needs_an_end() -> None:
    """A run that could go on does not show that something never happens."""
    with pytest.raises(TraceError, match="step 1 is not the end"):
        decode(encode(record(SMALL, "torch", None, created(None))))


def test_a_loop_must_lead_back() -> None:
    with pytest.raises(TraceError, match="does not lead back"):
        decode(encode(record(SMALL, "torch", None, created(0))))


def test_a_loop_on_which_it_holds_now_and_then_shows_nothing() -> None:
    """The model has no loops (the engines prove it), so this one is drawn: out, and back again."""
    model = RRefModel(SMALL, TORCH)
    here, there = states(model, named(model, "CreateLocal(x0)"))
    loop = [here, there, here]
    _refuse_unfinished(model, loop, Case("nowhere on it", lambda _: False), 0)
    with pytest.raises(TraceError, match="holds somewhere on the loop"):
        _refuse_unfinished(model, loop, Case("halfway", lambda world: world == there), 0)
