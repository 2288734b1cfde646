"""Runs as TLC writes them: it hears them as its own, and takes the same steps with its own modules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from farref.model.checker.interface import Budget, Kind, Property
from farref.model.checker.run import Run
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace, decode
from farref.rendering.traces.tlc import to_tlc, variables
from farref.tlc import engine as tlc


def listener_of(trace: Trace, *properties: Property) -> tlc.Listener:
    about = PROTOCOLS[trace.subject]
    model = about.model(trace.bounds, about.rules_of(trace.profile, trace.without))
    return tlc.Listener(Run("tlc", model, properties, Budget()))


@pytest.fixture
def has_tlc() -> None:
    try:
        tlc.find_tlc()
    except tlc.TlcUnavailable as error:
        pytest.skip(f"TLC does not take the steps: {error}")


def test_tlc_hears_it_as_its_own(trace: Trace) -> None:
    assert trace.property is not None
    twin = tlc.TWINS[type(trace.bounds)]
    broken = Property(trace.property.id, trace.property.clause, Kind.ALWAYS, "", ())
    listener = listener_of(trace, broken)
    for number, text in tlc.messages(to_tlc(trace).splitlines(keepends=True)):
        assert listener.hear(number, text)
    assert len(listener.trace) == len(trace.steps) + 1
    assert trace.property.kind is not Kind.ALWAYS or listener.broken == trace.property.id
    for text in listener.trace:
        assert twin.read_state(text.partition("\n")[2])


WALK: Final = """\
---- MODULE Walk ----
EXTENDS {module}, Sequences
VARIABLE at
Said == <<{states}>>
Now == [{record}]
WalkInit == Init /\\ at = 1 /\\ Said[1] = Now
WalkNext == at < Len(Said) /\\ at' = at + 1 /\\ Next /\\ {primed}
NotAtTheEnd == at < Len(Said)
====
"""


@pytest.mark.usefixtures("has_tlc")
def test_tlc_takes_the_same_steps(trace: Trace) -> None:
    """TLC itself walks from each state that was written to the next one, with its own steps, to the end."""
    listener = listener_of(trace)
    walk(trace, to_tlc(trace), listener)
    assert listener.broken == "NotAtTheEnd", "".join(listener.said)


def walk(trace: Trace, told: str, listener: tlc.Listener) -> None:
    twin, about = tlc.TWINS[type(trace.bounds)], PROTOCOLS[trace.subject]
    rules = about.rules_of(trace.profile, trace.without)
    texts = re.findall(r"STARTMSG 2217:4 @!@!@\n[^\n]*\n(.*?)\n\n@!@!@ENDMSG", told, re.DOTALL)
    states = [re.findall(r"^/\\ (\w+) = (.*)$", text, re.MULTILINE) for text in texts]
    names = [name for name, _ in states[0]]
    module = WALK.format(
        module=twin.module,
        states=",\n".join("[" + ", ".join(f"{name} |-> {value}" for name, value in one) + "]" for one in states),
        record=", ".join(f"{name} |-> {name}" for name in names),
        primed=" /\\ ".join(f"{name}' = Said[at + 1].{name}" for name in names),
    )
    config = twin.render_config(trace.bounds, rules, ["NotAtTheEnd"])
    config = re.sub(r"SPECIFICATION \w+", "INIT WalkInit\nNEXT WalkNext", config)
    tlc.run_tlc(config, listener, module="Walk", files={**twin.files(trace.bounds), "Walk.tla": module})


@pytest.mark.usefixtures("has_tlc")
def test_tlc_stumbles_over_a_state_that_was_changed(saved: Path) -> None:
    trace = decode(saved.read_bytes())
    told = to_tlc(trace)
    place = told.rindex("closing = FALSE")
    listener = listener_of(trace)
    walk(trace, told[:place] + "closing = TRUE" + told[place + len("closing = FALSE") :], listener)
    assert listener.broken is None


def test_records_functions_and_sets_are_told_apart() -> None:
    record, function = frozenset({("value", 0)}), frozenset({(0, "a")})
    messages = frozenset({("ForwardCall", 0)})
    assert variables(frozenset({("record", record), ("function", function), ("messages", messages)})) == {
        "world": '[function |-> (0 :> "a"), messages |-> {<<"ForwardCall", 0>>}, record |-> [value |-> 0]]'
    }
