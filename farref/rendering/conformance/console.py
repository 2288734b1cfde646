"""Reports as a page for people: short when all is well, a story when it is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from farref.properties.conformance.kit.document import Level, Report, Row, Verdict
from farref.rendering.conformance.conclusion import (
    KNOWN,
    MARKS,
    TOLD,
    Conclusion,
    conclusion,
    counts,
    in_brief,
    is_red,
    printable,
    rate,
    said,
    sentence,
    side_by_side,
    title,
)
from farref.rendering.layout import numbered, plain_table

STYLES: Final = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.EXPECTED_FAIL: "yellow",
    Verdict.BY_DESIGN: "yellow",
    Verdict.UNEXPECTED_PASS: "bold magenta",
    Verdict.SKIPPED: "dim",
    Verdict.BLOCKED: "dim yellow",
    Verdict.UNTESTED: "dim",
    Verdict.ERROR: "bold red",
}
LABEL_WIDTH: Final = 16
CONCLUSION_STYLES: Final = {Conclusion.CONFORMS: "bold green", Conclusion.BROKEN: "bold red"}


def show_reports(page: Console, reports: Sequence[Report]) -> None:
    """Print reports: each by itself, several as a matrix above."""
    reports = [printable(one) for one in reports]
    if len(reports) > 1:
        page.print(_matrix(reports))
        page.print()
    for report in reports:
        _show(page, report)
    came_to = conclusion(reports)
    page.print(Text(sentence(reports), CONCLUSION_STYLES.get(came_to, "bold yellow")))


def marked(verdict: Verdict) -> Text:
    """Write a verdict with its sign."""
    return Text(f"{MARKS[verdict]} {verdict.value}", STYLES[verdict])


def _show(page: Console, report: Report) -> None:
    page.print(Text(title(report), "bold"))
    page.print(
        f"seed {report.seed}, expectations: {report.expectations or 'none'}, {report.seconds:.1f} s", style="dim"
    )
    page.print(counts(report) or "no verdicts")
    for note in report.notes:
        page.print(f"note: {note}", style="yellow")
    page.print()
    for row in report.clauses:
        if row.verdict in TOLD:
            _tell(page, row)


def _matrix(reports: Sequence[Report]) -> Table:
    table = plain_table(expand=True)
    table.add_column("check", no_wrap=True)
    table.add_column("", ratio=1)
    for report in reports:
        table.add_column(title(report))
    for name, first, rows in side_by_side(reports):
        if all(row is None or row.replay is None for row in rows):
            continue  # no check looks at the clause
        table.add_row(
            name, first.says or first.title, *(Text("") if row is None else marked(row.verdict) for row in rows)
        )
    return table


def _tell(page: Console, row: Row) -> None:
    optional = "; it counts for nothing" if row.verdict is Verdict.FAIL and not is_red(row) else ""
    page.print(
        Text.assemble((f"{row.id} ", "bold"), marked(row.verdict), f"{rate(row)}{optional}: {row.message}"),
        soft_wrap=True,
    )
    page.print(_labelled(f"{row.level.value.capitalize()} be so:", row.says))
    if row.level is not Level.MUST and row.because:
        page.print(_labelled("Not a must:", row.because))
    if row.verdict in KNOWN:
        page.print(
            _labelled("By design:" if row.verdict is Verdict.BY_DESIGN else "Expected:", f"{row.reason} ({row.link})")
        )
    else:
        page.print(Padding(numbered([said(one) for one in row.story]), (0, 0, 0, 2)))
        if row.trace:
            page.print(_labelled("It raised:", row.trace))
        page.print(_labelled("The spec:", f"{row.title}. {in_brief(row)}"))
    if row.replay:
        page.print(Text.assemble(("  See it again: ", "bold"), row.replay), soft_wrap=True)
    page.print()


def _labelled(label: str, text: str) -> Table:
    """Write a text behind its label, with all its lines below each other."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=0)
    table.add_column(width=LABEL_WIDTH, style="bold")
    table.add_column()
    table.add_row(f"  {label}", Text(text))
    return table
