"""A trace as a message sequence diagram: the steps with their sentences, and at the end what broke, and what it broke in."""

from __future__ import annotations

from typing import Final

from farref.model.checker.interface import Kind
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import MessageRecord, PropertyRecord, StepRecord, Trace, actions_of, rules_text
from farref.properties.traces.replay import AUTHORITY, EVERYONE, NETWORK, Fate
from farref.rendering.lifelines.draw import draw as draw_picture
from farref.rendering.lifelines.picture import Arrow, Box, Lane, Mark, Picture, Row, Stub, Tone
from farref.words import counted

MARKS: Final = {Fate.DROPPED: "dropped", Fate.FAILED: "failed", Fate.DUPLICATED: "and a copy stays"}
LOST: Final = (Fate.DROPPED, Fate.FAILED)
FLYING, UNANSWERED = "in flight ", " waits for an answer "
"""What an observation says about messages. Those in flight are drawn, and who waits for an answer is told where it changes."""


def draw(trace: Trace) -> str:
    """Draw a trace as an SVG document."""
    story = " ".join(f"{number}. {step.text}." for number, step in enumerate(trace.steps, start=1))
    lanes = sorted((Lane(one.name, _owns(one.owns)) for one in trace.workers), key=lambda lane: lane.name)
    picture = Picture(_title(trace), tuple(lanes), _rows(trace), _ending(trace), alarm=trace.property is not None)
    return draw_picture(picture, story)


def _owns(rrefs: tuple[str, ...]) -> str:
    return f"owns {', '.join(rrefs)}" if rrefs else ""


def _title(trace: Trace) -> str:
    steps, rules = counted(len(trace.steps), "step"), rules_text(trace.profile, trace.without)
    what = "A run of" if trace.property is None else f"{trace.property.id} violated in"
    return f"{what} {steps} under {rules}"


def _ending(trace: Trace) -> tuple[str, ...]:
    broken, means = trace.property, f"What this means: {trace.meaning}"
    if broken is None:
        return ("A run of the protocol.", means)
    sentence = f"{broken.id} (clause {broken.clause}, {broken.kind.value}) is violated: {broken.text}"
    repeats = (
        [f"Steps {trace.loop_start + 1} to {len(trace.steps)} repeat for ever."] if trace.loop_start is not None else []
    )
    return (sentence, means, *repeats)


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(trace: Trace) -> tuple[Row, ...]:
    sent: dict[str, int] = {}
    rows: list[Row] = []
    stranded = _stranded(trace)
    for place, (step, left) in enumerate(zip(trace.steps, stranded, strict=True)):
        stubs = [Stub(one.source, one.target, f"{one.label} still in flight") for one in left]
        is_last = place == len(trace.steps) - 1 and trace.property is not None
        notes = _what_broke(trace) if is_last else ()
        is_alarm = is_last or (trace.loop_start is not None and place >= trace.loop_start)
        rows.append(Row(str(place + 1), _capital(step.text), (_mark(step, sent), *stubs), is_alarm, notes))
        sent |= {message.label: place for message in step.sent}
    return tuple(rows)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _mark(step: StepRecord, sent: dict[str, int]) -> Mark:
    if step.message is None or step.fate is None:
        return Box(None if step.worker in (AUTHORITY, EVERYONE) else step.worker, step.action)
    message, fate = step.message, step.fate
    label = f"{message.label} {MARKS[fate]}" if fate in MARKS else message.label
    source = message.target if message.source == NETWORK else message.source
    return Arrow(
        source, message.target, label, _tone(message, fate), sent.get(message.label),
        dashed=fate is Fate.DUPLICATED, lost=fate in LOST,
    )  # fmt: skip


def _tone(message: MessageRecord, fate: Fate) -> Tone:
    if fate in LOST:
        return Tone.ALARM
    if fate is Fate.DUPLICATED:
        return Tone.ODD
    return Tone.QUIET if message.label.startswith("Ack(") or message.source == NETWORK else Tone.PLAIN


def _stranded(trace: Trace) -> list[tuple[MessageRecord, ...]]:
    """List for each step the messages it sent that are neither received nor lost later on."""
    ended: set[str] = set()
    left: list[tuple[MessageRecord, ...]] = []
    for step in reversed(trace.steps):
        left.append(tuple(message for message in step.sent if message.label not in ended))
        ended -= {message.label for message in step.sent}
        if step.message is not None and step.fate is not Fate.DUPLICATED:
            ended.add(step.message.label)
    return left[::-1]


def _what_broke(trace: Trace) -> tuple[str, ...]:
    """Say that it breaks here, and what the workers know now: what this step changed first, with what was there before."""
    before, after = _known(trace)
    gone, new = [one for one in before if one not in after], [one for one in after if one not in before]
    same = [one for one in after if one in before and UNANSWERED not in one]
    broken = trace.property
    assert broken is not None, "only what breaks something is asked"
    when = "before (−) and after (+)" if gone or new else "after"
    head = f"✗ {_how_it_ends(trace, broken)} What the workers know {when} this step:"
    return (head, *(f"− {one}" for one in gone), *(f"+ {one}" for one in new), *(f"· {one}" for one in same))


def _how_it_ends(trace: Trace, broken: PropertyRecord) -> str:
    if broken.kind is Kind.ALWAYS:
        return f"{broken.id} is broken here."
    why = "nothing more happens" if trace.loop_start is None else "these steps repeat for ever"
    return f"{broken.id} does not come true: {why}."


def _known(trace: Trace) -> tuple[list[str], list[str]]:
    """Look at the tables of all workers before and after the last step."""
    about = PROTOCOLS[trace.subject]
    model = about.model(trace.bounds, about.rules_of(trace.profile, trace.without))
    observer = about.observer(trace.bounds)
    worlds = [model.initial, *(moment.after for moment in about.replay(model, actions_of(trace)))]
    lines = [about.lines(observer.observe(world)) for world in worlds]
    before, after = ([one for one in said if not one.startswith(FLYING)] for said in lines[-2:])
    return before, after
