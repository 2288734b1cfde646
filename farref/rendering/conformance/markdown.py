"""Reports as Markdown: a summary, the matrix, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from farref.properties.conformance.kit.document import Report, Row, Verdict
from farref.rendering.conformance.conclusion import (
    MARKS,
    TOLD,
    counts,
    in_brief,
    line,
    printable,
    rate,
    sentence,
    side_by_side,
    title,
)

SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|&~])")


def to_markdown(reports: Sequence[Report]) -> str:
    """Write reports as one Markdown page."""
    reports = [printable(one) for one in reports]
    lines = ["# Conformance", "", *_summary(reports), "", *_matrix(reports), ""]
    for report in reports:
        told = [row for row in report.clauses if row.verdict in TOLD]
        lines += [f"## {_plain(title(report))}", ""] if told else []
        for row in told:
            lines += _tell(row)
    return "\n".join([*lines, f"**{sentence(reports)}**", ""])


def _summary(reports: Sequence[Report]) -> Iterator[str]:
    yield "| backend | version | verdicts | seed | expectations | seconds |"
    yield "| --- | --- | --- | ---: | --- | ---: |"
    for one in reports:
        cells = (one.backend, one.version, counts(one), str(one.seed), one.expectations or "none", f"{one.seconds:.1f}")
        yield f"| {' | '.join(map(_plain, cells))} |"
    for one in reports:
        yield from (f"\n{_plain(one.backend)}: {_plain(note)}" for note in one.notes)


def _matrix(reports: Sequence[Report]) -> Iterator[str]:
    heads = ["check", "level", "what must be so", *(_plain(title(report)) for report in reports)]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for name, first, rows in side_by_side(reports):
        verdicts = ["" if row is None else f"{MARKS[row.verdict]} {row.verdict.value}" for row in rows]
        yield f"| {' | '.join([_plain(name), first.level.value, _plain(first.says or first.title), *verdicts])} |"


def _tell(row: Row) -> list[str]:
    lines = [f"### {_plain(row.id)} {MARKS[row.verdict]} {row.verdict.value}{rate(row)}: {_plain(row.title)}", ""]
    lines += [f"{_plain(row.says)} {_plain(row.message)}".strip(), ""]
    known = "By design" if row.verdict is Verdict.BY_DESIGN else "Expected"
    lines += [f"{known}: {_plain(row.reason)} ({_plain(row.link or '')})", ""] if row.reason else []
    lines += [*_fenced("\n".join(map(line, row.story))), ""] if row.story else []
    lines += [*_fenced(row.trace), ""] if row.trace else []
    lines += [f"The spec: {_plain(in_brief(row))}", ""]
    return [*lines, *_fenced(row.replay), ""] if row.replay else lines


def _fenced(text: str) -> list[str]:
    """Put a text into a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", text, fence]


def _plain(text: str) -> str:
    """Write a text so that nothing in it is taken for markup, in one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))
