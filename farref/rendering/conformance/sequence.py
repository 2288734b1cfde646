"""Draw a story as a sequence diagram: workers as lifelines, time downwards, a row for every operation.

An operation that goes from one worker to another is an arrow, any other is a box on its worker's lifeline. One that ends
after others have begun has a second row, where a dashed arrow comes back. Where the clause was broken, all is red.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from farref.properties.conformance.kit.document import Operation
from farref.rendering import svg
from farref.rendering.conformance.marks import Mark, marks, workers

BLUE, GREY, RED, VIOLET, ALARM = "#2456c9", "#7a8394", "#c0262d", "#8338b5", "#fdecec"
ROW, HEAD, MARGIN, NUMBERS, SIZE = 34.0, 64.0, 18.0, 30.0, 11.0
DASHED: Final = ' stroke-dasharray="5 4"'


def draw_story(story: Sequence[Operation], name: str) -> str:
    """Draw a story as an SVG element; the name keeps it apart from others on one page."""
    return _Diagram(story).document(name)


class _Diagram:
    def __init__(self, story: Sequence[Operation]) -> None:
        self.story, self.marks = story, marks(story)
        names = workers(story)
        spacing = max((_width(one.label) for one in self.marks), default=0.0) + 40
        self.lifelines = {name: MARGIN + NUMBERS + spacing * (n + 0.5) for n, name in enumerate(names)}
        self.width = MARGIN * 2 + NUMBERS + spacing * len(names)
        self.height = HEAD + ROW * len(self.marks) + MARGIN

    def document(self, name: str) -> str:
        """Draw everything."""
        body = self._heads()
        for place, mark in enumerate(self.marks):
            body += self._row(mark, HEAD + ROW * place)
        told = " ".join(f"{one.number}. {one.text}. {one.outcome}".strip() for one in self.story)
        return svg.document(self.width, self.height, "Sequence of operations", told, body, name=name)

    def _heads(self) -> list[str]:
        drawn = []
        for worker, x in self.lifelines.items():
            drawn.append(svg.line(x, 44, x, self.height - 8, color=svg.FAINT))
            drawn.append(svg.rectangle(x - 30, 14, 60, 30, fill=svg.PAPER, stroke=svg.INK, radius=5))
            drawn.append(svg.text(x, 34, worker, size=14, anchor="middle", bold=True))
        return drawn

    def _row(self, mark: Mark, y: float) -> list[str]:
        middle, color = y + ROW / 2, _color(mark)
        alarm = [svg.rectangle(4, y + 2, self.width - 8, ROW - 4, fill=ALARM, radius=4)] if mark.trouble else []
        number = "" if mark.number is None else str(mark.number)
        return [
            *alarm,
            svg.text(MARGIN + 14, middle + 4, number, color=GREY, anchor="end"),
            *self._mark(mark, middle, color),
        ]

    def _mark(self, mark: Mark, y: float, color: str) -> list[str]:
        source, target = self.lifelines.get(mark.source), self.lifelines.get(mark.target or "")
        if source is None:
            return self._everyone(y, mark.label, color)
        if target is None:
            return _box(source, y, mark.label, color)
        return _arrow(source, target, y, mark.label, color, dashed=mark.is_back)

    def _everyone(self, y: float, label: str, color: str) -> list[str]:
        left, right = min(self.lifelines.values()), max(self.lifelines.values())
        return [svg.line(left, y, right, y, color=color, width=2), *_box((left + right) / 2, y, label, color)]


def _color(mark: Mark) -> str:
    if mark.trouble:
        return RED
    return VIOLET if mark.is_fault else GREY if mark.number is None else BLUE


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
