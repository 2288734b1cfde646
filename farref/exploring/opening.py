"""What a walk is opened with: a world, and the run of a trace or of a claim."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from farref.exploring.guide import Guide
from farref.exploring.part import part_around
from farref.exploring.shape import FORMAT, Document, Lane, Rule
from farref.properties.traces.file import Trace, rules_text
from farref.words import counted


def document(guide: Guide, trace: Trace | None, title: str = "", *, is_part: bool = False) -> Document:
    """Tell of a world and of the run that it is opened with; as a part also of the states around the run."""
    moves = () if trace is None else tuple(step.action for step in trace.steps)
    nodes = part_around(guide, moves) if is_part else {guide.first.id: guide.node(guide.first)}
    about = guide.about
    owners = about.owners(guide.bounds)
    return Document(
        format=FORMAT,
        subject=about.name,
        world=guide.key,
        title=title or (f"A world of {about.name}" if trace is None else title_of(trace)),
        notes=(*_notes(trace), _bounds(guide.bounds)),
        lanes=tuple(Lane(name, f"owns {', '.join(owned)}" if owned else "") for name, owned in sorted(owners.items())),
        rules=tuple(Rule(one, about.clause_of(one), about.text_of(one)) for one in about.rules),
        sentences=guide.sentences(),
        first=next(iter(nodes)),
        run=moves,
        nodes=nodes,
        is_part=is_part,
        loop_start=None if trace is None else trace.loop_start,
    )


def title_of(trace: Trace) -> str:
    """Say what a trace is, in a line."""
    steps, rules = counted(len(trace.steps), "step"), rules_text(trace.profile, trace.without)
    what = "A run" if trace.property is None else f"{trace.property.id} is broken"
    return f"{what} in {steps} under {rules}"


def _notes(trace: Trace | None) -> tuple[str, ...]:
    if trace is None:
        return ()
    broken = trace.property
    must = () if broken is None else (f"{broken.id} (clause {broken.clause}) must hold: {broken.text}",)
    return (*must, trace.meaning)


def _bounds(bounds: Any) -> str:
    """Say how large the world is: the bounds that differ from none."""
    told = {one.name: asdict(bounds)[one.name] for one in fields(bounds)}
    said = [f"{name.replace('_', ' ')} {'yes' if value is True else value}" for name, value in told.items() if value]
    return f"The world: {', '.join(said)}."
