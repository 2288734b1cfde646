"""A badge for the README of a backend: what its report comes to, in two words, as SVG."""

from __future__ import annotations

from typing import Final

from farref.properties.conformance.kit.document import Report, Verdict
from farref.rendering import svg
from farref.rendering.conformance.conclusion import (
    DECIDED,
    KNOWN,
    Conclusion,
    conclusion,
    counts,
    is_red,
    printable,
    title,
)

HEIGHT: Final = 20
SIZE: Final = 11
MARGIN: Final = 6
LABEL: Final = "farref"
SLATE: Final = svg.Colour("slate", "#454c5a", "#454c5a")
WHITE: Final = svg.Colour("white", "#ffffff", "#ffffff")
KEPT: Final = svg.Colour("kept", "#12693a", "#12693a")
BROKEN: Final = svg.Colour("broken", "#b01820", "#b01820")
UNKNOWN: Final = svg.Colour("unknown", "#7a4b00", "#7a4b00")
"""White letters are legible on each of these, on light pages and on dark ones, so no style sheet is needed."""

UNDECIDED: Final = {
    Conclusion.HARNESS: "not decided",
    Conclusion.NOTHING: "nothing checked",
    Conclusion.INCOMPLETE: "incomplete",
}


def to_badge(report: Report) -> str:
    """Draw the badge of a report."""
    report = printable(report)
    said, colour = in_short(report)
    left, right = _width(LABEL), _width(said)
    body = [
        svg.rectangle(0, 0, left + right, HEIGHT, fill=SLATE),
        svg.rectangle(left, 0, right, HEIGHT, fill=colour),
        _centred(LABEL, left / 2),
        _centred(said, left + right / 2),
    ]
    return svg.document(left + right, HEIGHT, f"{LABEL}: {said}", f"{title(report)}: {counts(report)}", body)


def in_short(report: Report) -> tuple[str, svg.Colour]:
    """Say in a few words what a report comes to, and in which colour. What is known to be broken is broken."""
    rows = [row for row in report.clauses if row.verdict in DECIDED]
    broken = sum(row.verdict in KNOWN or (row.verdict is Verdict.FAIL and is_red(row)) for row in rows)
    came_to = conclusion([report])
    if came_to in UNDECIDED:
        return UNDECIDED[came_to], UNKNOWN
    if broken:
        return f"{broken} of {len(rows)} broken", BROKEN
    return (f"{len(rows)} kept", KEPT) if came_to is Conclusion.CONFORMS else ("out of date", UNKNOWN)


def _width(words: str) -> float:
    return round(svg.text_width(len(words), SIZE, mono=False) + 2 * MARGIN)


def _centred(words: str, x: float) -> str:
    return svg.text(x, 14, words, size=SIZE, colour=WHITE, anchor="middle")
