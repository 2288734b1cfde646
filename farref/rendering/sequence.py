"""Draw a story as a sequence diagram: workers as lifelines, time downwards, a row for every operation.

An operation that goes from one worker to another is an arrow, any other is a box on its worker's lifeline. One that ends
after others have begun has a second row, where a dashed arrow comes back. Where the clause was broken, all is red.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from farref import svg
from farref.properties.conformance.document import Operation

BLUE, GREY, RED, VIOLET, ALARM = "#2456c9", "#7a8394", "#c0262d", "#8338b5", "#fdecec"
ROW, HEAD, MARGIN, NUMBERS, SIZE = 34.0, 64.0, 18.0, 30.0, 11.0
LETTERS_MAX: Final = 44
DASHED: Final = ' stroke-dasharray="5 4"'


@dataclass(frozen=True)
class Event:
    """A row of the diagram: an operation begins, ends, or does both."""

    operation: Operation
    begins: bool
    ends: bool


def draw_story(story: Sequence[Operation], name: str) -> str:
    """Draw a story as an SVG element; the name keeps it apart from others on one page."""
    return _Diagram(story).document(name)


class _Diagram:
    def __init__(self, story: Sequence[Operation]) -> None:
        self.story, self.events = story, events(story)
        self.owners = _owners(story)
        workers = _workers(story)
        spacing = _spacing(story)
        self.lifelines = {name: MARGIN + NUMBERS + spacing * (n + 0.5) for n, name in enumerate(workers)}
        self.width = MARGIN * 2 + NUMBERS + spacing * max(1, len(workers))
        self.height = HEAD + ROW * len(self.events) + MARGIN

    def document(self, name: str) -> str:
        """Draw everything."""
        body = self._heads()
        for place, event in enumerate(self.events):
            body += self._row(event, HEAD + ROW * place)
        told = " ".join(f"{one.number}. {one.text}. {one.outcome}".strip() for one in self.story)
        return svg.document(self.width, self.height, "Sequence of operations", told, body, name=name)

    def _heads(self) -> list[str]:
        drawn = []
        for worker, x in self.lifelines.items():
            drawn.append(svg.line(x, 44, x, self.height - 8, color=svg.FAINT))
            drawn.append(svg.rectangle(x - 30, 14, 60, 30, fill=svg.PAPER, stroke=svg.INK, radius=5))
            drawn.append(svg.text(x, 34, worker, size=14, anchor="middle", bold=True))
        return drawn

    def _row(self, event: Event, y: float) -> list[str]:
        operation, middle = event.operation, y + ROW / 2
        color = RED if operation.trouble else VIOLET if operation.verb == "fault" else BLUE
        alarm = [svg.rectangle(4, y + 2, self.width - 8, ROW - 4, fill=ALARM, radius=4)] if operation.trouble else []
        number = svg.text(MARGIN + 14, middle + 4, str(operation.number), color=GREY, anchor="end")
        return [*alarm, number, *self._mark(event, middle, color)]

    def _mark(self, event: Event, y: float, color: str) -> list[str]:
        operation = event.operation
        source = self.lifelines.get(operation.worker)
        target = self.lifelines.get(operation.to or self._owner(operation) or "")
        label = _label(event)
        if source is None:
            return self._everyone(y, label, color)
        if target is None or target == source:
            return _box(source, y, label, color)
        ends = (source, target) if event.begins else (target, source)
        return _arrow(*ends, y, label, color, dashed=not event.begins)

    def _owner(self, operation: Operation) -> str | None:
        """Say where a fetch goes: to whoever the RRef was made on."""
        return self.owners.get(operation.request.get("name", "")) if operation.verb == "fetch" else None

    def _everyone(self, y: float, label: str, color: str) -> list[str]:
        left, right = min(self.lifelines.values()), max(self.lifelines.values())
        return [svg.line(left, y, right, y, color=color, width=2), *_box((left + right) / 2, y, label, color)]


def events(story: Sequence[Operation]) -> list[Event]:
    """List the rows: an operation that ended before the next one began has one, any other has two."""
    moments: list[tuple[float, int, Event]] = []
    for place, one in enumerate(story):
        later = story[place + 1].begun if place + 1 < len(story) else None
        at_once = one.ended is None or later is None or one.ended <= later
        moments.append((one.begun, 2 * place, Event(one, begins=True, ends=at_once)))
        if not at_once and one.ended is not None:
            moments.append((one.ended, 2 * place + 1, Event(one, begins=False, ends=True)))
    return [event for _, _, event in sorted(moments, key=lambda moment: moment[:2])]


def _owners(story: Sequence[Operation]) -> dict[str, str]:
    return {str(one.request.get("name")): str(one.request.get("owner")) for one in story if one.verb == "create"}


def _workers(story: Sequence[Operation]) -> list[str]:
    named = {name for one in story for name in (one.worker, one.to) if name}
    started = {name for one in story for name in one.request.get("workers", ())}
    return sorted(named | started) or ["backend"]


def _label(event: Event) -> str:
    operation, request = event.operation, event.operation.request
    what = {
        "create": f"create {request.get('name')} = {request.get('function') or 'value'}",
        "call": f"call {request.get('function')}",
        "fault": f"{request.get('kind')}",
        "backward": f"backward {request.get('context')}",
        "gradients": f"gradients {request.get('context')}",
        "probe": f"probe {request.get('name') or ''}".strip(),
    }.get(operation.verb, f"{operation.verb} {request.get('name', '')}".strip())
    outcome = _shortened(operation.outcome) if event.ends and operation.outcome else ""
    return _shortened(f"{what} {outcome}".strip()) if event.begins else outcome


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LETTERS_MAX else f"{text[: LETTERS_MAX - 1]}…"


def _spacing(story: Sequence[Operation]) -> float:
    """Set the lifelines so far apart that a label fits between any two of them."""
    return max((_width(_label(event)) for event in events(story)), default=0.0) + 40


def _width(label: str) -> float:
    return svg.text_width(len(label), SIZE, mono=True)


def _box(x: float, y: float, label: str, color: str) -> list[str]:
    width = _width(label) + 14
    paper = svg.rectangle(x - width / 2, y - 11, width, 22, fill=svg.WHITE, stroke=color, radius=4)
    return [paper, svg.text(x, y + 4, label, size=SIZE, color=color, anchor="middle", mono=True)]


def _arrow(x1: float, x2: float, y: float, label: str, color: str, *, dashed: bool) -> list[str]:
    back = -1 if x1 < x2 else 1
    tip = f"{svg.number(x2)},{svg.number(y + 6)}"
    wings = [f"{svg.number(x2 + back * 9)},{svg.number(y + 6 + side)}" for side in (-4, 4)]
    middle = (x1 + x2) / 2 if abs(x1 - x2) < _width(label) * 2 else x2 + back * (_width(label) / 2 + 14)
    return [
        svg.line(x1, y + 6, x2, y + 6, color=color, extra=DASHED if dashed else ""),
        f'<polygon points="{tip} {" ".join(wings)}" fill="{color}"/>',
        svg.text(middle, y - 1, label, size=SIZE, color=color, anchor="middle", mono=True),
    ]
