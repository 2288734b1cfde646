"""Runs as files: neutral JSON that any program can draw, and that is believed only after it was taken again.

A trace says where it happened (profile, missing rule, bounds), what was violated, and each step with the message that ended
there and the messages sent. Reading one replays it on the model: a step that cannot happen, a message that was not sent,
or an end that violates nothing is an error that names the step. The sentences are for people; they are made anew.

Most traces are counterexamples. One without a property is a run of the sound protocol for others to take too (`twin.py`). If a
backend disagreed at its end, `disagreement` says what differed (`disagreement.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from farref.model.checker.interface import Action, Case, Counterexample, Kind, Model, Property, State
from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED, subject_of
from farref.properties.traces.replay import Addressed, Fate, ReplayError
from farref.properties.violation import Violation

FORMAT: Final = "farref-trace/1"
A_RUN: Final = "This run breaks nothing. It was kept so that an implementation can be asked to take it too."


class TraceError(Exception):
    """A file is not a trace, or what it tells did not happen; the message says which."""


class MessageRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message: its label, and where it comes from and goes to."""

    label: str
    source: str
    target: str


class StepRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step: who took it, the message that ended there and how, and the messages sent."""

    action: str
    worker: str
    text: str
    message: MessageRecord | None
    fate: Fate | None
    sent: tuple[MessageRecord, ...]


class WorkerRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker and the RRefs it owns, if it owns any."""

    name: str
    owns: tuple[str, ...]


class PropertyRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was violated, and for whom."""

    id: str
    clause: str
    kind: Kind
    text: str
    case: str


class DisagreementRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What differed at the end of a run between the model and a backend, in words."""

    backend: str
    difference: tuple[str, ...]
    violated: tuple[Violation, ...] = ()
    note: str = ""


class Trace(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A run with everything needed to take it again and to draw it; of a disagreement also what differed."""

    format: str
    subject: str
    profile: str
    without: str | None
    bounds: Any  # those of its protocol
    property: PropertyRecord | None
    meaning: str
    workers: tuple[WorkerRecord, ...]
    loop_start: int | None
    steps: tuple[StepRecord, ...]
    disagreement: DisagreementRecord | None = None


class _Header(msgspec.Struct):
    format: str


# -- writing -----------------------------------------------------------------------------------------------------------


def record(bounds: Any, profile: str, rule: str | None, counterexample: Counterexample) -> Trace:
    """Write a counterexample down, by taking it again under a profile, or under SOUND without a rule."""
    about, broken = subject_of(bounds), counterexample.property
    model = about.model(bounds, about.rules_of(profile, rule))
    moments = list(about.replay(model, counterexample.actions))
    return msgspec.structs.replace(
        _trace(about, bounds, profile, rule, moments),
        property=PropertyRecord(broken.id, broken.clause, broken.kind, counterexample.text(), counterexample.case),
        meaning=about.meaning(counterexample, moments[-1]),
        loop_start=counterexample.loop_start,
    )


def record_run(bounds: Any, actions: Iterable[Action], profile: str = "sound", rule: str | None = None) -> Trace:
    """Write a run down that violates nothing, by taking it again."""
    about = subject_of(bounds)
    model = about.model(bounds, about.rules_of(profile, rule))
    return _trace(about, bounds, profile, rule, list(about.replay(model, actions)))


def _trace(about: AnySubject, bounds: Any, profile: str, rule: str | None, moments: list[Any]) -> Trace:
    return Trace(
        format=FORMAT,
        subject=about.name,
        profile=profile,
        without=rule,
        bounds=bounds,
        property=None,
        meaning=A_RUN,
        workers=tuple(WorkerRecord(name, owns) for name, owns in about.owners(bounds).items()),
        loop_start=None,
        steps=tuple(_step(about, moment) for moment in moments),
    )


def encode(trace: Trace) -> bytes:
    """Give a trace as the content of a file."""
    return msgspec.json.format(msgspec.json.encode(trace), indent=1) + b"\n"


def rules_text(profile: str, rule: str | None) -> str:
    """Name those rules in a sentence."""
    return f"the {profile.upper()} profile" if rule is None else f"SOUND without {rule}"


def _step(about: AnySubject, moment: Any) -> StepRecord:
    ended = None if moment.ended is None else _message(moment.ended)
    sent = tuple(_message(one) for one in moment.sent)
    return StepRecord(str(moment.action), moment.worker, about.tell(moment), ended, moment.fate, sent)


def _message(sent: Addressed[Any]) -> MessageRecord:
    return MessageRecord(str(sent.message), sent.source, sent.target)


# -- reading -----------------------------------------------------------------------------------------------------------


def decode(content: bytes) -> Trace:
    """Read a trace and take it again; the trace given back is the one that really happened."""
    trace = _parse(content)
    told = taken_again(trace)
    _compare(trace, told)
    if trace.disagreement is None:
        return told
    return msgspec.structs.replace(told, meaning=trace.meaning, disagreement=trace.disagreement)


def taken_again(trace: Trace) -> Trace:
    """Take the steps of a trace again, of which only the actions are believed. What is wrong with it is an error."""
    about = CHECKED[trace.subject]
    model = about.model(trace.bounds, about.rules_of(trace.profile, trace.without))
    actions, broken = _actions(model, trace), trace.property
    found = None
    if broken is not None:
        found = Counterexample(_property(trace, broken, about), broken.case, actions, trace.loop_start)
    try:
        if found is not None:
            _refuse_harmless(model, found, about)
        return _record_again(trace, actions, found)
    except ReplayError as error:
        raise TraceError(f"the trace did not happen: {error}") from error


def _record_again(trace: Trace, actions: tuple[Action, ...], found: Counterexample | None) -> Trace:
    if found is None:
        return record_run(trace.bounds, actions, trace.profile, trace.without)
    return record(trace.bounds, trace.profile, trace.without, found)


def actions_of(trace: Trace) -> tuple[Action, ...]:
    """Give the actions of a trace that has been read, as the model under the trace's own rules knows them."""
    about = CHECKED[trace.subject]
    return _actions(about.model(trace.bounds, about.rules_of(trace.profile, trace.without)), trace)


def _parse(content: bytes) -> Trace:
    try:
        header = msgspec.json.decode(content, type=_Header)
        if header.format != FORMAT:
            raise TraceError(f"its format is {header.format!r}; this version reads {FORMAT!r}")
        return settled(msgspec.json.decode(content, type=Trace))
    except msgspec.ValidationError as error:
        raise TraceError(f"it is JSON, but not a trace ({error}); farref check --save writes traces") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TraceError(f"it is not JSON, or only half of it ({error}); farref check --save writes traces") from error


def settled(trace: Trace) -> Trace:
    """Give a trace with the bounds of its subject, if there is such a world."""
    if trace.subject not in CHECKED:
        raise TraceError(f"its subject is {trace.subject!r}; known are {', '.join(CHECKED)}")
    about = CHECKED[trace.subject]
    trace = msgspec.structs.replace(trace, bounds=msgspec.convert(trace.bounds, about.bounds))
    _refuse_strangers(trace, about)
    return trace


def _refuse_strangers(trace: Trace, about: AnySubject) -> None:
    if trace.profile not in about.profiles:
        raise TraceError(f"its profile is {trace.profile!r}; known are {', '.join(about.profiles)}")
    if trace.without is not None and trace.without not in about.rules:
        raise TraceError(f"it is without the rule {trace.without!r}; known are {', '.join(about.rules)}")
    wrong = about.complaint(trace.bounds)
    if wrong is not None:
        raise TraceError(f"its bounds make no sense: {wrong}")


def _property(trace: Trace, broken: PropertyRecord, about: AnySubject) -> Property:
    known = {one.id: one for one in about.properties(trace.bounds)}
    known |= {claim.id: claim.property for claim in about.every_claim.values() if claim.bounds == trace.bounds}
    if broken.id not in known:
        raise TraceError(f"its property is {broken.id!r}; known under its bounds are {', '.join(known)}")
    return known[broken.id]


def _actions(model: Model, trace: Trace) -> tuple[Action, ...]:
    known = {str(action): action for action in model.actions}
    for number, step in enumerate(trace.steps, start=1):
        if step.action not in known:
            raise TraceError(f"step {number}: nothing is called {step.action!r} under the trace's bounds and rules")
    return tuple(known[step.action] for step in trace.steps)


def _compare(read: Trace, told: Trace) -> None:
    if read.workers != told.workers:
        raise TraceError("the file tells of other workers, or other owners, than its bounds allow")
    for number, (one, other) in enumerate(zip(read.steps, told.steps, strict=True), start=1):
        if (one.worker, one.message, one.fate, one.sent) != (other.worker, other.message, other.fate, other.sent):
            raise TraceError(f"step {number}, {one.action}: the file tells other messages than the model sends")


def _refuse_harmless(model: Model, counterexample: Counterexample, about: AnySubject) -> None:
    """Refuse a run whose end does not violate the property it was kept for."""
    broken, steps = counterexample.property, len(counterexample.actions)
    case = next((case for case in broken.cases if case.label == counterexample.case), None)
    if case is None:
        raise TraceError(f"{broken.id} has no case {counterexample.case!r}")
    worlds = [model.initial, *(moment.after for moment in about.replay(model, counterexample.actions))]
    if case.holds(worlds[-1]):
        raise TraceError(f"step {steps} is the last, and {broken.id} holds there ({case.label})")
    if broken.kind is Kind.EVENTUALLY:
        _refuse_unfinished(model, worlds, case, counterexample.loop_start)
    elif counterexample.loop_start is not None:
        raise TraceError(
            f"its loop_start is {counterexample.loop_start}; {broken.id} breaks without a loop, so it is null"
        )


def _refuse_unfinished(model: Model, worlds: list[State], case: Case, loop_start: int | None) -> None:
    steps = len(worlds) - 1
    if loop_start is None:
        more = next((action for action in model.actions if model.step(worlds[-1], action) is not None), None)
        if more is not None:
            raise TraceError(
                f"step {steps} is not the end: {more} can still happen, and the property only holds eventually"
            )
    elif not 0 <= loop_start < steps or worlds[loop_start] != worlds[-1]:
        raise TraceError(f"step {steps} does not lead back to where the loop starts")
    elif any(case.holds(world) for world in worlds[loop_start:]):
        raise TraceError("the property holds somewhere on the loop")
