"""Draw a story as a sequence diagram: workers as lifelines, time downwards, a row for every operation.

An operation that goes from one worker to another is an arrow, any other is a box on its worker's lifeline. One that ends
after others have begun has a second row, where a dashed arrow comes back. Where the clause was broken, all is red.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from farref.properties.conformance.kit.document import Operation
from farref.rendering.conformance.marks import Mark, marks, workers
from farref.rendering.lifelines.draw import draw
from farref.rendering.lifelines.picture import Arrow, Box, Lane, Picture, Row, Tone

WIDTH: Final = 380.0
"""As narrow as the labels allow, so that a report can be read on a telephone."""


def draw_story(story: Sequence[Operation], name: str) -> str:
    """Draw a story as an SVG element; the name keeps it apart from others on one page, which has the style sheet."""
    told = " ".join(f"{one.number}. {one.text}. {one.outcome}".strip() for one in story)
    lanes = tuple(Lane(worker) for worker in workers(story))
    picture = Picture("Sequence of operations", lanes, tuple(map(_row, marks(story))), width_min=WIDTH, is_titled=False)
    return draw(picture, told, name=name, style="")


def _row(mark: Mark) -> Row:
    number = "" if mark.number is None else str(mark.number)
    return Row(number, "", (_drawn(mark),), alarm=mark.trouble)


def _drawn(mark: Mark) -> Arrow | Box:
    if not mark.source or mark.target is None:
        return Box(mark.source or None, mark.label, _tone(mark))
    return Arrow(mark.source, mark.target, mark.label, _tone(mark), dashed=mark.is_back)


def _tone(mark: Mark) -> Tone:
    if mark.trouble:
        return Tone.ALARM
    return Tone.ODD if mark.is_fault else Tone.QUIET if mark.number is None else Tone.PLAIN
