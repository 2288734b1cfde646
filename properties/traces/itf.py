"""Traces in ITF, the Informal Trace Format of Apalache and Quint (Apalache's ADR-015), written and read.

A state has the fields of the world, and under Quint's names which action led to it and what was picked for it
(`mbt::actionTaken`, `mbt::nondetPicks`). What farref needs beside that to take the run again is in `#meta`. Reading one
takes it again, as with every trace: a state that differs from the model's is an error that names it.
"""

from __future__ import annotations

import re
from dataclasses import fields
from enum import Enum
from typing import Any, Final

import msgspec

from farref.model.checker.interface import Model
from farref.model.values import IdSet
from farref.properties.protocols import CHECKED
from farref.properties.traces.file import (
    FORMAT,
    PropertyRecord,
    StepRecord,
    Trace,
    TraceError,
    actions_of,
    settled,
    taken_again,
)

ABOUT: Final = "https://apalache-mc.org/docs/adr/015adr-trace.html"
TAKEN, PICKS = "mbt::actionTaken", "mbt::nondetPicks"
INIT: Final = "init"


class _About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is needed to take a run again."""

    format: str
    subject: str
    profile: str
    without: str | None
    bounds: Any
    property: PropertyRecord | None
    loop_start: int | None


class _Meta(msgspec.Struct, frozen=True):
    farref: _About


class _Itf(msgspec.Struct, frozen=True):
    meta: _Meta = msgspec.field(name="#meta")
    states: list[dict[str, Any]]


# -- writing -----------------------------------------------------------------------------------------------------------


def to_itf(trace: Trace) -> str:
    """Write a trace in ITF."""
    model = _model(trace)
    about = _About(
        trace.format, trace.subject, trace.profile, trace.without, trace.bounds, trace.property, trace.loop_start
    )
    meta = {
        "format": "ITF", "format-description": ABOUT, "source": f"farref, {trace.subject}",
        "description": trace.meaning, "farref": about,
    }  # fmt: skip
    loop = {} if trace.loop_start is None else {"loop": trace.loop_start}
    names = [TAKEN, PICKS, *model.initial._fields]
    document = {"#meta": meta, "params": [], "vars": names, **loop, "states": _states(trace, model)}
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def _model(trace: Trace) -> Any:
    about = CHECKED[trace.subject]
    return about.model(trace.bounds, about.rules_of(trace.profile, trace.without))


def _states(trace: Trace, model: Model) -> list[dict[str, Any]]:
    states = [_state(0, model.initial, INIT, {})]
    for number, moment in enumerate(CHECKED[trace.subject].replay(model, actions_of(trace)), start=1):
        states.append(_state(number, moment.after, taken(moment.action), picks(moment.action)))
    return states


def _state(number: int, world: Any, name: str, chosen: dict[str, str]) -> dict[str, Any]:
    """Write a state. What was not picked is left out: Quint writes the tag None, which not every reader takes."""
    options = {one: {"tag": "Some", "value": value} for one, value in chosen.items()}
    values = {field: value_of(getattr(world, field)) for field in world._fields}
    return {"#meta": {"index": number}, TAKEN: name, PICKS: options, **values}


def value_of(value: Any) -> Any:
    """Write a value of a world in ITF."""
    match value:
        case None:
            return "none"
        case Enum():
            return value.name.lower()
        case bool() | str():
            return value
        case int():
            return {"#bigint": str(value)}
        case IdSet():
            return {"#set": [value_of(one) for one in value.members()]}
        case frozenset():
            return {"#set": sorted((value_of(one) for one in value), key=repr)}
        case tuple() if hasattr(value, "_fields"):
            return {name: value_of(getattr(value, name)) for name in value._fields}
        case tuple():
            return [value_of(one) for one in value]
        case _:
            return str(value)


# -- names of actions --------------------------------------------------------------------------------------------------


def taken(action: Any) -> str:
    """Name an action as Quint would: without what was picked for it."""
    return str(action).partition("(")[0]


def picks(action: Any) -> dict[str, str]:
    """Say what was picked for an action: each field with what its label says of it."""
    inner = str(action).partition("(")[2][:-1]
    said = re.split(r", (?![^(]*\))", inner) if inner else []
    names = [one.name for one in fields(action)]
    if len(names) != len(said):
        return {"what": inner} if inner else {}
    return dict(zip(names, said, strict=True))


# -- reading -----------------------------------------------------------------------------------------------------------


def is_itf(content: bytes) -> bool:
    """Say whether a file is in ITF, right or wrong."""
    try:
        document = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(document, dict) and "states" in document and "#meta" in document


def from_itf(content: bytes) -> Trace:
    """Read a trace in ITF and take it again."""
    try:
        read = msgspec.json.decode(content, type=_Itf)
        trace = taken_again(_with_steps(_bare(read.meta.farref), read.states))
    except msgspec.ValidationError as error:
        raise TraceError(f"it is ITF, but not as farref explain --format itf writes it ({error})") from error
    _compare(read, trace)
    return trace


def _bare(about: _About) -> Trace:
    """Give the trace without its steps."""
    if about.format != FORMAT:
        raise TraceError(f"its format is {about.format!r}; this version reads {FORMAT!r}")
    world = (about.subject, about.profile, about.without, about.bounds)
    return settled(Trace(about.format, *world, about.property, "", (), about.loop_start, ()))


def _with_steps(trace: Trace, states: list[dict[str, Any]]) -> Trace:
    """Find the actions that the states name."""
    known = {(taken(one), *sorted(picks(one).items())): str(one) for one in _model(trace).actions}
    steps = [_step(number, state, known) for number, state in enumerate(states) if number]
    return msgspec.structs.replace(trace, steps=tuple(steps))


def _step(number: int, state: dict[str, Any], known: dict[Any, str]) -> StepRecord:
    try:
        chosen = sorted((name, one["value"]) for name, one in state[PICKS].items() if one["tag"] == "Some")
        return StepRecord(known[(state[TAKEN], *chosen)], "", "", None, None, ())
    except (KeyError, TypeError, AttributeError) as error:
        raise TraceError(
            f"state {number} names no action of this world ({TAKEN} and {PICKS} say which it is)"
        ) from error


def _compare(read: _Itf, trace: Trace) -> None:
    told = msgspec.json.decode(to_itf(trace))["states"]
    for number, (one, other) in enumerate(zip(read.states, told, strict=True)):
        wrong = next((name for name in other if name != "#meta" and one.get(name) != other[name]), None)
        if wrong is not None:
            raise TraceError(f"state {number}: the file tells another {wrong!r} than the model has")
