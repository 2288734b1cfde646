"""Reports as one page that works by itself: no request leaves it, and nothing in it is code but our own few lines."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from farref.properties.conformance.kit.document import Level, Report, Row, Verdict
from farref.rendering import svg
from farref.rendering.conformance.conclusion import (
    MARKS,
    MEANINGS,
    TOLD,
    conclusion,
    printable,
    sentence,
    side_by_side,
    title,
)
from farref.rendering.conformance.sequence import draw_story

COLUMNS_MAX: Final = 5
"""More backends do not fit side by side: each verdict then stands beside its backend's name."""

POLICY: Final = "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Cell:
    """What became of a check on one backend."""

    backend: str
    row: Row | None
    diagram: Markup | None

    @property
    def is_told(self) -> bool:
        """Whether there is more to say than the verdict."""
        return self.row is not None and bool(self.row.message or self.row.story or self.row.reason)

    @property
    def is_plain(self) -> bool:
        """Whether its story is as it should be, and need not be shown at once."""
        return self.row is not None and self.row.verdict not in TOLD

    @property
    def link(self) -> str | None:
        """Where a known failure is told of, if it is an address that a browser may follow."""
        link = self.row.link if self.row else None
        return link if link is not None and link.startswith(("https://", "http://")) else None


@dataclass(frozen=True)
class Line:
    """A row of the matrix."""

    first: Row
    cells: tuple[Cell, ...]
    spec: Markup

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that occur in it."""
        return sorted({cell.row.verdict.value for cell in self.cells if cell.row})


def to_html(reports: Sequence[Report]) -> str:
    """Write reports as one HTML page."""
    reports = [printable(one) for one in reports]
    lines = list(_lines(reports))
    style = _resource("page.css").replace("COLUMNS", str(len(reports))) + svg.DARK_STYLE
    script = _resource("page.js")
    page = _environment().from_string(_resource("page.html"))
    return page.render(
        reports=reports,
        lines=lines,
        title=title,
        conclusions=[conclusion([report]) for report in reports],
        sentence=sentence,
        verdicts=[one for one in Verdict if any(one.value in line.verdicts for line in lines)],
        counts={one: sum(one.value in line.verdicts for line in lines) for one in Verdict},
        levels=[one for one in Level if any(line.first.level is one for line in lines)],
        marks=MARKS,
        meanings=MEANINGS,
        is_many=len(reports) > COLUMNS_MAX,
        style=Markup(style),
        script=Markup(script),
        policy=POLICY.format(style=_hash(style), script=_hash(script)),
    )


def _lines(reports: Sequence[Report]) -> Iterator[Line]:
    for place, (_, first, rows) in enumerate(side_by_side(reports)):
        cells = (
            Cell(report.backend, row, _diagram(row, f"d{place}-{column}-"))
            for column, (report, row) in enumerate(zip(reports, rows, strict=True))
        )
        yield Line(first, tuple(cells), _clause(first.spec))


def _diagram(row: Row | None, name: str) -> Markup | None:
    if row is None or not row.story or row.verdict not in TOLD:
        return None
    return Markup(draw_story(row.story, name))


@cache
def _clause(text: str) -> Markup:
    """Render what a clause says. Markup of its own is shown as text, and links lead nowhere from here."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    return Markup(reader.disable(["link", "image", "autolink"]).render(text))


@cache
def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _resource(name: str) -> str:
    return (files("farref.rendering.conformance") / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
