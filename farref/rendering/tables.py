"""Tables over several checks, for machines, for a README and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from farref.checking.tables import Listing, Row
from farref.model.checker.interface import Verdict
from farref.rendering.layout import plain_table

EXPENDABLE: Final = ("configuration", "text", "must_hold", "clause", "generated")
"""The columns that a narrow page does without, the first ones first."""

PROSE_WIDTHS_MIN: Final = {"text": 24, "must_hold": 24, "verdict": 10}
"""The columns that may be wrapped, and how far."""


def listing_document(listing: Listing) -> Row:
    """Say a table as one JSON object."""
    return {
        "title": listing.title,
        "expectation": listing.expectation,
        "verdict": listing.verdict.value,
        "rows": list(listing.rows),
    }


def listing_markdown(listing: Listing) -> str:
    """Write a table for a README."""
    names, headings = _columns(listing)
    lines = [
        [headings[name] for name in names],
        ["---:" if _is_number(listing.rows, name) else "---" for name in names],
    ]
    lines += [[_cell(row[name]) for name in names] for row in listing.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def show_listing(console: Console, listing: Listing) -> None:
    """Print a table for people, without some of its columns where they do not fit."""
    names, _ = _columns(listing)
    for name in EXPENDABLE:
        if name in names and _width(console, _table(listing, names)) > console.width:
            names.remove(name)
    console.print(listing.title, style="bold", soft_wrap=True)
    console.print(_table(listing, names))
    words, style = {
        Verdict.HOLDS: ("✓ ", "green"),
        Verdict.VIOLATED: (f"✗ {listing.failure}: ", "bold red"),
        Verdict.INCOMPLETE: ("? not decided: ", "yellow"),
    }[listing.verdict]
    console.print(Text.assemble((words, style), listing.expectation))


def _columns(listing: Listing) -> tuple[list[str], Mapping[str, str]]:
    """List the columns that people see, and give what is written above each."""
    headings = listing.headings or {name: name for name in listing.rows[0]}
    return list(headings), headings


def _table(listing: Listing, names: list[str]) -> Table:
    table, (_, headings) = plain_table(), _columns(listing)
    for name in names:
        is_number, width = _is_number(listing.rows, name), PROSE_WIDTHS_MIN.get(name)
        side: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(headings[name], justify=side, no_wrap=width is None, min_width=width)
    for row in listing.rows:
        table.add_row(*(_cell(row[name]) for name in names))
    return table


def _width(console: Console, table: Table) -> int:
    """Tell the least width in which a table is whole."""
    return Measurement.get(console, console.options.update(width=1000), table).minimum


def _is_number(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row[name], int | float) for row in rows)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int | float) else str(value)
