"""Reports in the form that was asked for, on the terminal or in a file, and the badge."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

import click
import msgspec
from rich.console import Console

from farref.properties.conformance.kit.document import Report, together
from farref.rendering.conformance.badge import to_badge
from farref.rendering.conformance.conclusion import counts, sentence, title
from farref.rendering.conformance.console import show_reports
from farref.rendering.conformance.html import to_html
from farref.rendering.conformance.junit import to_junit
from farref.rendering.conformance.markdown import to_markdown
from farref.rendering.conformance.picture import to_svg
from farref.terminal.files import replace
from farref.terminal.output import PIPED_WIDTH, page, put, remark

FORMATS: Final = ("pretty", "json", "junit", "html", "markdown", "svg")
SUFFIXES: Final = {
    ".json": "json", ".xml": "junit", ".html": "html", ".htm": "html", ".md": "markdown", ".svg": "svg",
}  # fmt: skip


def form_of(given: str | None, output: str | None) -> str:
    """Choose the format that was asked for, or that the file's name says; refuse two that differ."""
    named = SUFFIXES.get(Path(output or "").suffix.lower())
    if given is not None and named not in (None, given):
        raise click.UsageError(f"{output} would be {named}, and --format says {given}; leave one of them out")
    return given or named or "pretty"


def publish(reports: tuple[Report, ...], form: str, output: str | None, badge: str | None) -> None:
    """Print reports, or write them to a file and say in a line what they come to. A badge is of the first."""
    if output is not None:
        replace(output, rendered(reports, form).encode(), "report")
    if badge is not None:
        replace(badge, to_badge(reports[0]).encode(), "badge")
    if output is not None:
        for report in reports:
            remark(f"{title(report)}: {counts(report)}")
        remark(sentence(reports))
    elif form == "pretty":
        with page() as console:
            show_reports(console, reports)
    else:
        put(rendered(reports, form).removesuffix("\n"))


def rendered(reports: tuple[Report, ...], form: str) -> str:
    """Write reports in one of the forms."""
    match form:
        case "json":
            return msgspec.json.format(msgspec.json.encode(together(reports)), indent=1).decode() + "\n"
        case "junit":
            return to_junit(reports)
        case "html":
            return to_html(reports)
        case "markdown":
            return to_markdown(reports)
        case "svg":
            return to_svg(reports)
        case _:
            text = io.StringIO()
            show_reports(Console(file=text, width=PIPED_WIDTH, highlight=False, markup=False, emoji=False), reports)
            return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
