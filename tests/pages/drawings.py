"""State diagrams: a column for each phase, and an arrow for each way from one phase to another, with its events beside it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from farref.rendering import svg

COLUMN: Final = 112
ROW: Final = 28
TOP: Final = 62
TEXT: Final = 470
LETTERS: Final = 66


@dataclass(frozen=True)
class Edge:
    """A way from one phase to another: what leads along it, and what may be sent then."""

    source: str
    target: str
    events: str
    sends: str


def state_diagram(title: str, phases: Sequence[str], edges: Sequence[Edge]) -> str:
    """Draw the phases of something and the ways between them."""
    texts = [textwrap.wrap(_said(edge), LETTERS) for edge in edges]
    tops = [TOP + sum(max(ROW, 12 + 15 * len(one)) for one in texts[:place]) for place in range(len(edges) + 1)]
    places = {phase: COLUMN * (number + 0.5) + 10 for number, phase in enumerate(phases)}
    body = [piece for phase in phases for piece in _column(phase, places[phase], tops[-1])]
    for edge, text, top in zip(edges, texts, tops, strict=False):
        body += _row(places[edge.source], places[edge.target], top, text, COLUMN * len(phases) + 24)
    width = COLUMN * len(phases) + 24 + TEXT
    told = "; ".join(f"{edge.source} to {edge.target}: {_said(edge)}" for edge in edges)
    return svg.document(width, tops[-1] + 10, title, told, body, style=svg.DARK_STYLE)


def _said(edge: Edge) -> str:
    return f"{edge.events}, sends {edge.sends}" if edge.sends else edge.events


def _column(phase: str, x: float, bottom: float) -> list[str]:
    width = COLUMN - 12
    return [
        svg.line([(x, 38), (x, bottom)], colour=svg.LINE, width=1),
        svg.rectangle(x - width / 2, 12, width, 26, fill=svg.BOX, stroke=svg.LINE, radius=5),
        svg.text(x, 30, phase, size=12, anchor="middle", bold=True),
    ]


def _row(start: float, end: float, y: float, text: Sequence[str], x: float) -> list[str]:
    to_the_right = end > start
    tip = end - 3 if to_the_right else end + 3
    arrow = [
        svg.dot(start, y, 3.5, fill=svg.BLUE, stroke=svg.BLUE),
        svg.line([(start, y), (tip, y)], colour=svg.BLUE),
        svg.arrow_head(tip, y, to_the_right=to_the_right, colour=svg.BLUE),
    ]
    return arrow + [svg.text(x, y + 4 + 15 * place, one, size=11.5, mono=True) for place, one in enumerate(text)]
