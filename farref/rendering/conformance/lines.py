"""The rows of a page of reports: what is broken first, then what is kept, then what was not run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from farref.properties.conformance.kit.document import Report, Row, Script, Verdict
from farref.rendering.conformance.conclusion import DECIDED, KNOWN, TOLD, side_by_side, title
from farref.rendering.conformance.sequence import draw_story


class Group(Enum):
    """Where a row stands on the page. The groups are shown in this order."""

    BROKEN = "Broken"
    KNOWN = "Broken, as is known"
    KEPT = "Kept"
    NOT_RUN = "Not run"


GROUPS: Final[Mapping[Group, tuple[Verdict, ...]]] = {
    Group.BROKEN: (Verdict.FAIL, Verdict.UNEXPECTED_PASS, Verdict.ERROR),
    Group.KNOWN: KNOWN,
    Group.KEPT: (Verdict.PASS,),
}
"""A row stands in the first group of which it has a verdict."""


@dataclass(frozen=True)
class Cell:
    """What became of a check on one backend."""

    backend: str
    anchor: str
    """The name of its place on the page."""
    row: Row | None
    diagram: Markup | None
    programs: tuple[tuple[Script, str | None], ...] = ()
    """Those that show it, each with the place where it stands on the page already, if it does."""

    @property
    def is_told(self) -> bool:
        """Whether there is more to say than the verdict."""
        return self.row is not None and bool(self.row.message or self.row.story or self.row.reason or self.row.replay)

    @property
    def is_plain(self) -> bool:
        """Whether its story is as it should be, and need not be shown at once."""
        return self.row is not None and self.row.verdict not in TOLD

    @property
    def is_repeatable(self) -> bool:
        """Whether one may want to run it again: it was run, and its story is not told, or not good."""
        return self.row is not None and self.row.verdict in DECIDED and not (self.is_plain and self.row.story)

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
    rule: Markup
    """What its clause says in brief."""

    @property
    def verdicts(self) -> list[str]:
        """The verdicts that occur in it."""
        return sorted({cell.row.verdict.value for cell in self.cells if cell.row})

    @property
    def group(self) -> Group:
        """Where it stands."""
        found = {cell.row.verdict for cell in self.cells if cell.row}
        return next((group for group, verdicts in GROUPS.items() if found & set(verdicts)), Group.NOT_RUN)

    @property
    def differs(self) -> bool:
        """Whether some backends keep the clause and others break it. Those that were not asked do not count."""
        found = {cell.row.verdict for cell in self.cells if cell.row}
        return Verdict.PASS in found and bool(found & {Verdict.FAIL, *KNOWN})


def grouped(reports: Sequence[Report]) -> dict[Group, list[Line]]:
    """Give the rows of some reports, in groups that are not empty."""
    found = list(_lines(reports))
    groups = {group: [line for line in found if line.group is group] for group in Group}
    seen: dict[Script, str] = {}
    return {group: [_with_programs(line, seen) for line in lines] for group, lines in groups.items() if lines}


def _with_programs(line: Line, seen: dict[Script, str]) -> Line:
    """Show each program once on the page: where it is first, as several checks may be about one finding."""
    cells = []
    for cell in line.cells:
        shown = tuple((script, seen.get(script)) for script in (cell.row.scripts if cell.row else ()))
        seen |= {script: cell.anchor for script, place in shown if place is None}
        cells.append(replace(cell, programs=shown))
    return replace(line, cells=tuple(cells))


def _lines(reports: Sequence[Report]) -> Iterator[Line]:
    names = places(reports)
    for place, (check, first, rows) in enumerate(side_by_side(reports)):
        cells = (
            Cell(report.backend, f"{check}@{names[column]}", row, _diagram(row, f"d{place}-{column}-"))
            for column, (report, row) in enumerate(zip(reports, rows, strict=True))
        )
        yield Line(first, tuple(cells), _written(first.spec.split("\n\n")[0]))


def places(reports: Sequence[Report]) -> list[str]:
    """Name each backend so that an address may end with it; no two are alike."""
    found: list[str] = []
    for number, report in enumerate(reports, start=1):
        name = re.sub(r"[^a-z0-9.]+", "-", title(report).lower()).strip("-")
        found.append(name if name and name not in found else f"{name}-{number}")
    return found


def clause_texts(reports: Sequence[Report]) -> dict[str, tuple[str, Markup]]:
    """Give the title and the text of each clause, once for all its rows."""
    return {row.clause: (row.title, _written(row.spec)) for report in reports for row in report.clauses}


def _diagram(row: Row | None, name: str) -> Markup | None:
    if row is None or not row.story or row.verdict not in TOLD:
        return None
    return Markup(draw_story(row.story, name))


@cache
def _written(text: str) -> Markup:
    """Render what a clause says. Markup of its own is shown as text, and links lead nowhere from here."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    return Markup(reader.disable(["link", "image", "autolink"]).render(text))
