"""A trace as a sequence diagram of Mermaid, which GitHub draws in an issue: put it between ```mermaid and ```."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.properties.traces.file import StepRecord, Trace
from farref.properties.traces.replay import AUTHORITY, EVERYONE, NETWORK, Fate
from farref.rendering.traces.events import one_line

ARROWS: Final = {Fate.DELIVERED: "->>", Fate.DUPLICATED: "-->>", Fate.DROPPED: "-x", Fate.FAILED: "-x"}
MARKS: Final = {Fate.DROPPED: " (lost)", Fate.FAILED: " (failed)", Fate.DUPLICATED: " (a copy stays)"}
SPECIAL: Final = {"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;"}
"""What Mermaid would read as its own, or as HTML, and how it is written instead."""


def to_mermaid(trace: Trace) -> str:
    """Write a trace as a diagram."""
    names = sorted(worker.name for worker in trace.workers)
    owned = {worker.name: f" (owns {', '.join(worker.owns)})" for worker in trace.workers if worker.owns}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {name} as {name}{owned.get(name, '')}" for name in names]
    for place, step in enumerate(trace.steps):
        lines += ["    loop for ever"] if place == trace.loop_start else []
        lines += [f"    {line}" for line in _step(place + 1, step, names)]
    lines += ["    end"] if trace.loop_start is not None else []
    lines += [f"    Note over {_across(names)}: {_escaped(line)}" for line in _ending(trace)]
    return "\n".join(lines) + "\n"


def _step(number: int, step: StepRecord, names: list[str]) -> Iterator[str]:
    if step.message is not None and step.fate is not None and step.message.source != NETWORK:
        ends = f"{step.message.source}{ARROWS[step.fate]}{step.message.target}"
        yield f"{ends}: {_escaped(step.message.label)}{MARKS.get(step.fate, '')}"
    over = _across(names) if step.worker in (AUTHORITY, EVERYONE, NETWORK) else step.worker
    yield f"Note over {over}: {number}. {_escaped(step.text)}"


def _across(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]},{names[-1]}"


def _ending(trace: Trace) -> Iterator[str]:
    if trace.property is not None:
        yield f"{trace.property.id} (clause {trace.property.clause}) is violated: {trace.property.text}"
    yield trace.meaning


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in one_line(text))
