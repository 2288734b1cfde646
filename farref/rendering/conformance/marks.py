"""A story as the marks of a sequence diagram: who, towards whom, saying what. The drawing is `sequence.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from farref.properties.conformance.kit.document import Operation
from farref.properties.conformance.kit.steps import STEPS

LETTERS_MAX: Final = 44
COUNT: Final = re.compile(r"'(\w+)': (\d+)")


@dataclass(frozen=True)
class Event:
    """An operation begins, ends, or does both."""

    operation: Operation
    begins: bool
    ends: bool


@dataclass(frozen=True)
class Mark:
    """A row of the diagram: a box on a lifeline, or an arrow to another."""

    number: int | None
    source: str
    """Empty for what concerns all workers."""
    target: str | None
    label: str
    is_back: bool = False
    is_fault: bool = False
    trouble: bool = False


def events(story: Sequence[Operation]) -> list[Event]:
    """List beginnings and ends: an operation that ended before the next one began has both at once."""
    moments: list[tuple[float, int, Event]] = []
    for place, one in enumerate(story):
        later = story[place + 1].begun if place + 1 < len(story) else None
        at_once = one.ended is None or later is None or one.ended <= later
        moments.append((one.begun, 2 * place, Event(one, begins=True, ends=at_once)))
        if not at_once and one.ended is not None:
            moments.append((one.ended, 2 * place + 1, Event(one, begins=False, ends=True)))
    return [event for _, _, event in sorted(moments, key=lambda moment: moment[:2])]


def marks(story: Sequence[Operation]) -> list[Mark]:
    """List the rows of the diagram of a story."""
    owners = {str(one.request.get("name")): one.to for one in story if one.verb == "create"}
    found: list[Mark] = []
    for event in events(story):
        steps = event.operation.request.get("steps") or () if event.begins else ()
        found += [mark for step in steps for mark in _steps(event.operation.worker, step)]
        found.append(_mark(event, owners))
    return found


def workers(story: Sequence[Operation]) -> list[str]:
    """List everybody who takes part in a story."""
    named = {name for one in marks(story) for name in (one.source, one.target) if name}
    return sorted(named | {str(name) for one in story for name in one.request.get("workers") or ()}) or ["backend"]


def _mark(event: Event, owners: Mapping[str, str | None]) -> Mark:
    one = event.operation
    to = owners.get(str(one.request.get("name"))) if one.verb == "fetch" else one.to
    source, target = (one.worker, to) if event.begins or not to else (to, one.worker)
    return Mark(
        number=one.number,
        source=source,
        target=None if target == source else target,
        label=_label(event),
        is_back=not event.begins,
        is_fault=one.verb == "fault",
        trouble=one.trouble,
    )


def _steps(worker: str, step: Mapping[str, Any]) -> Iterator[Mark]:
    """Draw a step of a gradient program: the leaf that is there, the call, and each hop on its way."""
    on = str(step.get("on") or worker)
    if "leaf" in step:
        yield Mark(None, on, None, shortened(f"{step['leaf']} = {step.get('value')}"))
        return
    name = step.get("let") or step.get("remote") or "step"
    what = step.get("fetch") or f"{step.get('operation', 'optimize')}({', '.join(map(str, step.get('args', ())))})"
    hops = [worker, *map(str, step.get("through", ())), on]
    for source, target in pairwise(hops):
        yield Mark(None, source, None if target == source else target, shortened(f"{name} = {what}"))


def _label(event: Event) -> str:
    operation, request = event.operation, event.operation.request
    if operation.verb in STEPS:
        return shortened(operation.text)
    what = {
        "create": f"create {request.get('name')} = {request.get('function') or 'value'}",
        "call": f"call {request.get('function')}",
        "fault": _fault(request),
        "backward": _pass(request),
        "gradients": f"gradients {request.get('context')}",
        "probe": f"probe {request.get('name') or ''}".strip(),
    }.get(operation.verb, f"{operation.verb} {request.get('name', '')}".strip())
    outcome = shortened(_outcome(operation)) if event.ends and operation.outcome else ""
    return shortened(f"{what} {outcome}".strip()) if event.begins else outcome


def _outcome(operation: Operation) -> str:
    """Give what came of an operation; of counts only those that are not zero."""
    counts = COUNT.findall(operation.outcome) if operation.verb == "probe" else []
    if not counts:
        return operation.outcome
    return ", ".join(f"{name} {count}" for name, count in counts if count != "0") or "all zero"


def _pass(request: Mapping[str, Any]) -> str:
    roots = ", ".join(map(str, request.get("roots") or ()))
    return f"backward {roots} {str(request.get('mode')).upper()}" if roots else f"context {request.get('context')}"


def _fault(request: Mapping[str, Any]) -> str:
    details = request.get("details") or {}
    return f"{request.get('kind')} {details.get('message', '')}".strip()


def shortened(text: str) -> str:
    """Cut a text to what fits between two lifelines."""
    text = " ".join(text.split())
    return text if len(text) <= LETTERS_MAX else f"{text[: LETTERS_MAX - 1]}…"
