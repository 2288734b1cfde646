"""The ratios of `bench/ratios.py` as a picture: a bar for each, from the lowest round to the highest a line over it."""

from __future__ import annotations

import re
import textwrap
from typing import Any, Final

from farref.rendering import svg

WIDTH, LEFT, RIGHT, TOP = 860.0, 300.0, 130.0, 74.0
ROW, BAR = 26.0, 14.0
LETTERS: Final = 118
TITLE: Final = "farref beside PyTorch: how many times as fast"


def picture(rows: list[dict[str, Any]], about: str) -> str:
    """Draw all rows that have a ratio, with a line at what PyTorch does and a mark at what is wanted."""
    shown = [row for row in rows if row["times better"] is not None]
    most = max((max(row["times better"], row["aim"] or 0) for row in shown), default=1.0)
    scale = (WIDTH - LEFT - RIGHT) / most
    foot = TOP + ROW * len(shown) + 12
    notes = textwrap.wrap(about, LETTERS)
    body = [
        svg.text(24, 34, TITLE, size=18, bold=True),
        svg.text(
            24, 54, "A bar is the median of the rounds, the thin line their range, the dot what is wanted.", size=12
        ),
        *(piece for number, row in enumerate(shown) for piece in _bar(row, TOP + ROW * number, scale)),
        svg.line([(LEFT + scale, TOP - 6), (LEFT + scale, foot - 8)], colour=svg.INK, width=1, dashed=True),
        svg.text(LEFT + scale, foot + 6, "PyTorch", size=11, colour=svg.GREY, anchor="middle"),
        *(svg.text(24, foot + 30 + 16 * line, note, size=11, colour=svg.GREY) for line, note in enumerate(notes)),
    ]
    height = foot + 30 + 16 * len(notes)
    return svg.document(WIDTH, height, TITLE, "; ".join(map(_told, shown)), body, style=svg.DARK_STYLE)


def _bar(row: dict[str, Any], top: float, scale: float) -> list[str]:
    ratio, aim, middle = row["times better"], row["aim"], top + BAR / 2
    ends = [(LEFT + min(row[end] * scale, WIDTH - LEFT - RIGHT + 8), middle) for end in ("lowest", "highest")]
    wanted = "" if aim is None else f" of {aim:g}"
    pieces = [
        svg.text(LEFT - 10, top + BAR - 2, _name(row), size=12, anchor="end"),
        svg.rectangle(LEFT, top, ratio * scale, BAR, fill=svg.BLUE if aim is None or ratio >= aim else svg.VIOLET),
        svg.line(ends, colour=svg.GREY, width=2),
        svg.text(WIDTH - 24, top + BAR - 2, f"{ratio:.1f}{wanted}", size=12, anchor="end", mono=True),
    ]
    return pieces + ([] if aim is None else [svg.dot(LEFT + aim * scale, middle, 3.5, fill=svg.PAPER, stroke=svg.INK)])


def _told(row: dict[str, Any]) -> str:
    return f"{_name(row)}: {row['times better']:.1f}"


def _name(row: dict[str, Any]) -> str:
    """Name a figure without the letter of its job."""
    return re.sub(r"^[a-z] ", "", row["figure"])
