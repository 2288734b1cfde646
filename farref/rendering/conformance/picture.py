"""The matrix as a picture: a line for each backend, a column for each clause, a square for what became of its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from farref.properties.conformance.kit.document import Report, Row, Verdict
from farref.rendering import svg
from farref.rendering.conformance.conclusion import counts, is_red, printable, title

NAMES: Final = 210.0
"""How much room the names of the backends have."""
STEP: Final = 11.0
SQUARE: Final = 10.0
LINE: Final = 24.0
TOP: Final = 40.0
MARGIN: Final = 10.0
SIZE: Final = 11.0
SMALL: Final = 10.0
NAME_LETTERS_MAX: Final = 31


@dataclass(frozen=True)
class Look:
    """How a square looks, and what it says."""

    verdicts: tuple[Verdict, ...]
    colour: svg.Colour
    sign: str
    """In the square, so that nothing is told by colour alone."""
    meaning: str


GREEN: Final = svg.Colour("green", "#8fd0a8", "#2b7a4a")
AMBER: Final = svg.Colour("amber", "#f0c36b", "#8a6414")
CRIMSON: Final = svg.Colour("crimson", "#e0646a", "#b8333b")
LOOKS: Final = (
    Look((Verdict.ERROR, Verdict.FAIL, Verdict.EXPECTED_FAIL), CRIMSON, "✗", "broken"),
    Look((Verdict.BY_DESIGN,), AMBER, "≡", "broken by design"),
    Look((Verdict.PASS, Verdict.UNEXPECTED_PASS), GREEN, "", "kept"),
    Look((Verdict.BLOCKED,), svg.LINE, "", "says nothing while another is broken"),
    Look((Verdict.SKIPPED, Verdict.UNTESTED), svg.RULE, "", "not asked"),
)
"""A clause with several checks looks like the first of these that one of them has."""


def to_svg(reports: Sequence[Report]) -> str:
    """Draw some reports side by side."""
    reports = [printable(one) for one in reports]
    clauses = asked(reports)
    width = NAMES + len(clauses) * STEP + MARGIN
    height = TOP + len(reports) * LINE + 2 * LINE
    body = [_head(clause, place) for place, clause in enumerate(clauses)]
    for place, report in enumerate(reports):
        body += _line(report, TOP + place * LINE, clauses)
    body += _legend(height - LINE / 2)
    told = " ".join(f"{title(report)}: {counts(report)}." for report in reports)
    style = svg.dark_style((*svg.COLOURS, GREEN, AMBER, CRIMSON))
    return svg.document(max(width, 640), height, "Clauses and backends", told, body, style=style)


def asked(reports: Sequence[Report]) -> list[str]:
    """Give the clauses that some backend was asked about."""
    found = (row.clause for report in reports for row in report.clauses if look_of([row.verdict]) is not LOOKS[-1])
    there = set(found)
    return [one for one in dict.fromkeys(row.clause for report in reports for row in report.clauses) if one in there]


def look_of(verdicts: Sequence[Verdict]) -> Look:
    """Say how the verdicts of one clause look together."""
    return next((one for one in LOOKS if set(one.verdicts) & set(verdicts)), LOOKS[-1])


def _head(clause: str, place: int) -> str:
    x, y = NAMES + place * STEP + SQUARE - 1, TOP - 5
    turned = svg.text(0, 0, clause, size=SMALL, colour=svg.GREY)
    return f'<g transform="translate({svg.number(x)} {svg.number(y)}) rotate(-90)">{turned}</g>'


def _line(report: Report, y: float, clauses: Sequence[str]) -> list[str]:
    by_clause: Mapping[str, list[Verdict]] = {
        clause: [row.verdict for row in report.clauses if row.clause == clause and not _is_optional(row)]
        for clause in clauses
    }
    name = title(report)
    short = name if len(name) <= NAME_LETTERS_MAX else f"{name[: NAME_LETTERS_MAX - 1]}…"
    drawn = [svg.text(MARGIN, y + 14, short, size=SIZE)]
    for place, clause in enumerate(clauses):
        drawn += _square(NAMES + place * STEP, y + 2, look_of(by_clause[clause]))
    return drawn


def _is_optional(row: Row) -> bool:
    """Say whether a check failed that nobody need pass."""
    return row.verdict is Verdict.FAIL and not is_red(row)


def _square(x: float, y: float, look: Look) -> list[str]:
    drawn = [svg.rectangle(x, y, SQUARE, LINE - 6, fill=look.colour)]
    if look.sign:
        drawn.append(svg.text(x + SQUARE / 2, y + 13, look.sign, size=SMALL, colour=svg.INK, anchor="middle"))
    return drawn


def _legend(y: float) -> list[str]:
    x, drawn = MARGIN, []
    for look in LOOKS:
        drawn += _square(x, y - 14, look)
        drawn.append(svg.text(x + SQUARE + 5, y, look.meaning, size=SMALL, colour=svg.GREY))
        x += SQUARE + 5 + svg.text_width(len(look.meaning), SMALL, mono=False) + 16
    return drawn
