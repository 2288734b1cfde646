"""Draw a trace as a message sequence diagram: workers as lifelines, time downwards, a row for every step.

A message leaves the row in which it is sent and arrives in the row in which it is received, so that overtaking is seen as
lines that cross. Labels stand where a message ends, and a step ends at most one message: one label a row, so labels never
overlap. What is never received is a stub where it was sent, and its row is so much higher. The sentence of each step
stands beside its row.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Final

from farref.properties.traces.file import MessageRecord, StepRecord, Trace, rules_text
from farref.properties.traces.replay import EVERYONE, NETWORK, Fate
from farref.rendering import svg
from farref.words import counted

BLUE, GREY, RED, VIOLET = "#2456c9", "#7a8394", "#c0262d", "#8338b5"
OWNER_PAPER, ALARM_PAPER = "#e4edff", "#fdecec"
LABEL_SIZE, STORY_SIZE, LINE_HEIGHT = 11.0, 11.5, 15.0
STORY_LETTERS: Final = 78
ROW_HEIGHT_MIN, HEAD_HEIGHT, MARGIN, NUMBERS_WIDTH = 38.0, 92.0, 24.0, 34.0
LOOP_OUT, STUB_OUT, STUB_HEIGHT = 46.0, 26.0, 19.0
STRANDED: Final = " still in flight"
DASHED: Final = ' stroke-dasharray="6 4"'
MARKS: Final = {Fate.DROPPED: "dropped", Fate.FAILED: "failed", Fate.DUPLICATED: "and a copy stays"}

Point = tuple[float, float]


def draw(trace: Trace) -> str:
    """Draw a trace as an SVG document."""
    return Diagram(trace).document()


@dataclass(frozen=True)
class Row:
    """A horizontal stripe: a step, its sentence, and what it sent that never arrived."""

    y: float
    height: float
    lines: tuple[str, ...]
    stranded: tuple[MessageRecord, ...]

    @property
    def middle(self) -> float:
        """Where arrows start and end; the stubs hang below."""
        return self.y + (self.height - len(self.stranded) * STUB_HEIGHT) / 2

    @property
    def first_baseline(self) -> float:
        """Where the sentence begins."""
        return self.y + (self.height - (len(self.lines) - 1) * LINE_HEIGHT) / 2 + 4


class Diagram:
    """Where everything is, and the drawing made so far."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        stranded = _stranded(trace)
        spacing = _spacing(trace, stranded)
        names = sorted(worker.name for worker in trace.workers)
        first = MARGIN + NUMBERS_WIDTH + spacing / 2
        self.lifelines = {name: first + spacing * place for place, name in enumerate(names)}
        self.right = max(self.lifelines.values()) + spacing / 2
        self.rows = _rows(trace, stranded)
        self.bottom = self.rows[-1].y + self.rows[-1].height if self.rows else HEAD_HEIGHT
        self.sent_at: dict[str, Point] = {}
        self.lines: list[str] = []
        self.labels: list[str] = []

    @property
    def story_x(self) -> float:
        """Where the sentences begin: to the right of everything drawn."""
        return self.right + MARGIN

    @property
    def width(self) -> float:
        """The width of the whole drawing."""
        return self.story_x + svg.text_width(STORY_LETTERS, STORY_SIZE, mono=False) + MARGIN

    def document(self) -> str:
        """Draw everything: lines first, labels above them."""
        for step, row in zip(self.trace.steps, self.rows, strict=True):
            self._step(step, row)
        ending, height = self._ending()
        body = [svg.arrow_heads((BLUE, GREY, VIOLET)), *self._stripes(), *self._heads(), *self.lines, *self.labels]
        body += [*self._numbers(), *self._stories(), *ending]
        story = " ".join(f"{number}. {step.text}." for number, step in enumerate(self.trace.steps, start=1))
        return svg.document(self.width, height, _title(self.trace), story, body)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _step(self, step: StepRecord, row: Row) -> None:
        if step.worker == EVERYONE:
            place = self._everyone(step, row)
        elif step.message is not None and step.fate is not None:
            place = self._end(step.message, step.fate, row)
        else:
            place = (self.lifelines[step.worker], row.middle)
            self._box(place, step.action)
        self.sent_at |= {message.label: place for message in step.sent}
        for number, message in enumerate(row.stranded, start=1):
            self._stub(place, message, row.middle + number * STUB_HEIGHT)

    def _everyone(self, step: StepRecord, row: Row) -> Point:
        left, right = min(self.lifelines.values()), max(self.lifelines.values())
        self.lines.append(svg.line(left, row.middle, right, row.middle, color=svg.INK, width=2))
        place = ((left + right) / 2, row.middle)
        self._box(place, step.action)
        return place

    def _end(self, message: MessageRecord, fate: Fate, row: Row) -> Point:
        """Draw a message from where it was sent to what became of it; give the point where that was."""
        start, color = self.sent_at[message.label], _color(message, fate)
        target = self.lifelines[message.target]
        label = f"{message.label} {MARKS[fate]}" if fate in MARKS else message.label
        if fate in (Fate.DROPPED, Fate.FAILED):
            end = (_under_way(start[0], target), row.middle)
            self.lines.append(svg.line(*start, *end, color=color))
            self.lines.append(svg.cross(*end, color=color))
            self._label((end[0] + 12, end[1] + 4), label, color, "start")
            return end
        end = (target, row.middle)
        dashes = DASHED if fate is Fate.DUPLICATED else ""
        self._arrow(start, end, label, color, dashes + svg.arrow_to(color))
        return end

    def _arrow(self, start: Point, end: Point, label: str, color: str, extra: str) -> None:
        (x1, y1), (x2, y2) = start, end
        if x1 == x2:
            self.lines.append(svg.loop(x1, y1, y2, LOOP_OUT, color=color, extra=extra))
            self._label((x2 + LOOP_OUT * 0.75 + 6, y2 + 4), label, color, "start")
            return
        self.lines.append(svg.line(x1, y1, x2, y2, color=color, extra=extra))
        away = -1 if x1 < x2 else 1
        self._label((x2 + away * 14, y2 - 6), label, color, "end" if x1 < x2 else "start")

    def _stub(self, start: Point, message: MessageRecord, y: float) -> None:
        to_the_left = self.lifelines[message.target] < start[0]
        x, anchor = (start[0] - STUB_OUT, "end") if to_the_left else (start[0] + STUB_OUT, "start")
        self.lines.append(svg.line(*start, x, y, color=GREY, extra=DASHED))
        self.lines.append(svg.dot(x, y, 4, fill=svg.WHITE, stroke=GREY))
        self._label((x - 8 if to_the_left else x + 8, y + 4), f"{message.label}{STRANDED}", GREY, anchor)

    def _label(self, place: Point, label: str, color: str, anchor: str) -> None:
        """Write a label on paper of its own, so that lines do not run through it."""
        width = _label_width(label)
        left = place[0] - width if anchor == "end" else place[0]
        self.right = max(self.right, left + width)
        self.labels.append(svg.rectangle(left - 2, place[1] - 10, width + 4, 13, fill=svg.WHITE))
        self.labels.append(svg.text(*place, label, size=LABEL_SIZE, color=color, anchor=anchor, mono=True))

    def _box(self, place: Point, label: str) -> None:
        width = _label_width(label) + 14
        left, top = place[0] - width / 2, place[1] - 10
        self.labels.append(svg.rectangle(left, top, width, 20, fill=svg.PAPER, stroke=svg.INK, radius=4))
        self.labels.append(svg.text(place[0], place[1] + 4, label, size=LABEL_SIZE, anchor="middle", mono=True))

    # -- the frame -----------------------------------------------------------------------------------------------------

    def _heads(self) -> list[str]:
        drawn = [svg.text(MARGIN, 26, _title(self.trace), size=15, bold=True)]
        for worker in self.trace.workers:
            x, is_owner = self.lifelines[worker.name], bool(worker.owns)
            drawn.append(svg.line(x, HEAD_HEIGHT - 8, x, self.bottom, color=svg.FAINT))
            paper = OWNER_PAPER if is_owner else svg.PAPER
            drawn.append(svg.rectangle(x - 52, 42, 104, 42, fill=paper, stroke=svg.INK, radius=5))
            drawn.append(svg.text(x, 60 if is_owner else 68, worker.name, size=15, anchor="middle", bold=True))
            if is_owner:
                drawn.append(svg.text(x, 77, f"owns {', '.join(worker.owns)}", size=10.5, anchor="middle"))
        return drawn

    def _stripes(self) -> list[str]:
        return [
            svg.line(MARGIN, row.y + row.height, self.width - MARGIN, row.y + row.height, color="#eceff4", width=1)
            for row in self.rows
        ]

    def _numbers(self) -> list[str]:
        drawn = [
            svg.text(MARGIN + 20, row.middle + 4, str(number), color=GREY, anchor="end")
            for number, row in enumerate(self.rows, start=1)
        ]
        if self.trace.loop_start is not None:
            top = self.rows[self.trace.loop_start].y + 4
            drawn.append(svg.line(MARGIN - 6, top, MARGIN - 6, self.bottom - 4, color=RED, width=3))
        return drawn

    def _stories(self) -> list[str]:
        return [
            svg.text(self.story_x, row.first_baseline + place * LINE_HEIGHT, text, size=STORY_SIZE)
            for row in self.rows
            for place, text in enumerate(row.lines)
        ]

    def _ending(self) -> tuple[list[str], float]:
        """Say below what was violated, and give the height of the whole drawing."""
        broken = self.trace.property
        letters = int((self.width - 2 * MARGIN - 32) / svg.text_width(1, 12.5, mono=False))
        sentence = "A run of the protocol."
        if broken is not None:
            sentence = f"{broken.id} (clause {broken.clause}, {broken.kind.value}) is violated: {broken.text}"
        lines = [*textwrap.wrap(sentence, letters), *textwrap.wrap(f"What this means: {self.trace.meaning}", letters)]
        if self.trace.loop_start is not None:
            lines.append(f"Steps {self.trace.loop_start + 1} to {len(self.trace.steps)} repeat for ever.")
        top, height = self.bottom + 16, len(lines) * 18 + 22
        box = svg.rectangle(MARGIN, top, self.width - 2 * MARGIN, height, fill=ALARM_PAPER, stroke=RED, radius=6)
        texts = [
            svg.text(
                MARGIN + 16,
                top + 25 + place * 18,
                text,
                size=12.5,
                color=RED if place == 0 else svg.INK,
                bold=place == 0,
            )
            for place, text in enumerate(lines)
        ]
        return [box, *texts], top + height + MARGIN


def _rows(trace: Trace, stranded: list[tuple[MessageRecord, ...]]) -> list[Row]:
    rows: list[Row] = []
    y = HEAD_HEIGHT
    for step, left in zip(trace.steps, stranded, strict=True):
        lines = tuple(textwrap.wrap(step.text, STORY_LETTERS))
        height = max(ROW_HEIGHT_MIN + len(left) * STUB_HEIGHT, len(lines) * LINE_HEIGHT + 12)
        rows.append(Row(y, height, lines, left))
        y += height
    return rows


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


def _spacing(trace: Trace, stranded: list[tuple[MessageRecord, ...]]) -> float:
    """Set the lifelines so far apart that a label fits between any two of them."""
    labels = [f"{step.message.label} {MARKS.get(step.fate, '')}" for step in trace.steps if step.message and step.fate]
    labels += [f"{message.label}{STRANDED}" for left in stranded for message in left]
    labels += [step.action for step in trace.steps if step.message is None]
    return max(map(_label_width, [*labels, "x" * 20])) + 48


def _label_width(label: str) -> float:
    return svg.text_width(len(label), LABEL_SIZE, mono=True)


def _color(message: MessageRecord, fate: Fate) -> str:
    if fate in (Fate.DROPPED, Fate.FAILED):
        return RED
    if fate is Fate.DUPLICATED:
        return VIOLET
    return GREY if message.label.startswith("Ack(") or message.source == NETWORK else BLUE


def _under_way(start: float, target: float) -> float:
    """Give a place between two lifelines where no third one is: a message that ends there reached nobody."""
    return start + LOOP_OUT / 2 if start == target else start + 0.4 * (target - start)


def _title(trace: Trace) -> str:
    steps, rules = counted(len(trace.steps), "step"), rules_text(trace.profile, trace.without)
    what = "A run of" if trace.property is None else f"{trace.property.id} violated in"
    return f"{what} {steps} under {rules}"
