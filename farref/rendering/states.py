"""A counterexample to induction as a drawing: the state before a step and the state after it, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from farref.properties.proof.induction.tell import Told
from farref.rendering import svg
from farref.rendering.lifelines.draw import wrapped
from farref.rendering.svg import BOX, GREY, INK, RED, RULE

WIDTH: Final = 720.0
MARGIN: Final = 20.0
COLUMNS: Final = (20.0, 80.0, 410.0)
"""Where the names of things begin, what is true before, and what is true after."""
SIZE, LEADING = 13.0, 20.0


def draw_states(told: Told) -> str:
    """Draw a counterexample as an SVG document. What only one of the states has stands out."""
    body: list[str] = []
    y = _lines(body, [told.step], MARGIN + SIZE, bold=True)
    y = _head(body, y + 8)
    for row in told.rows:
        y = _row(body, y, row.thing, row.before, row.after)
    sentence = wrapped(f"Lost: {told.lost}: {told.text}", WIDTH - 2 * MARGIN, SIZE, mono=False)
    y = _lines(body, sentence, y + LEADING, colour=RED)
    title = f"{told.lost} is lost: {told.step}"
    return svg.document(WIDTH, y + MARGIN - SIZE, title, " ".join(told.sentences()), body, style=svg.DARK_STYLE)


def _lines(body: list[str], lines: Sequence[str], y: float, *, colour: svg.Colour = INK, bold: bool = False) -> float:
    for one in lines:
        body.append(svg.text(MARGIN, y, one, size=SIZE, colour=colour, bold=bold))
        y += LEADING
    return y


def _head(body: list[str], y: float) -> float:
    body.append(svg.rectangle(MARGIN / 2, y - SIZE - 3, WIDTH - MARGIN, LEADING + 2, fill=BOX, radius=3))
    for x, name in zip(COLUMNS, ("", "before", "after"), strict=True):
        body.append(svg.text(x, y, name, size=SIZE, colour=GREY))
    return y + LEADING + 4


def _row(body: list[str], y: float, thing: str, before: Sequence[str], after: Sequence[str] | None) -> float:
    body.append(svg.text(COLUMNS[0], y, thing, size=SIZE, mono=True, bold=True))
    ends = [_phrases(body, COLUMNS[1], y, before, before if after is None else after)]
    ends += [_phrases(body, COLUMNS[2], y, after or (), before)]
    end = max(*ends, y + LEADING)
    body.append(svg.line([(MARGIN / 2, end - SIZE), (WIDTH - MARGIN / 2, end - SIZE)], colour=RULE))
    return end + 6


def _phrases(body: list[str], x: float, y: float, parts: Sequence[str], others: Sequence[str]) -> float:
    for part in parts:
        is_new = part not in others
        body.append(svg.text(x, y, part, size=SIZE, colour=RED if is_new else INK, bold=is_new))
        y += LEADING
    return y
