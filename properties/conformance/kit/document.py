"""The report: one JSON document, of which everything else that is shown is a rendering.

`farref-conformance/1` is its format; `schema()` gives the JSON Schema that is published as `spec/conformance.schema.json`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Literal

import msgspec

FORMAT: Final = "farref-conformance/1"
MATRIX_FORMAT: Final = "farref-conformance-matrix/1"


class Verdict(Enum):
    """What became of a check."""

    PASS = "pass"
    FAIL = "fail"
    EXPECTED_FAIL = "expected-fail"
    BY_DESIGN = "by-design"
    UNEXPECTED_PASS = "unexpected-pass"
    SKIPPED = "skipped"
    BLOCKED = "blocked"
    UNTESTED = "untested"
    ERROR = "error"


class Level(Enum):
    """How much a clause binds."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Operation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operation of a story: who did what with whom, when, and what came of it."""

    number: int
    verb: str
    worker: str
    to: str | None
    text: str
    begun: float
    ended: float | None
    """Seconds since the check began; none if it was still going on at the end."""
    outcome: str
    """What came of it, in words."""
    trouble: bool
    """Whether this is where the clause was broken."""
    request: dict[str, Any]
    """The operation as an adapter is given it."""
    wanted: dict[str, Any] | None = None
    """What should have come of it, where the clause was broken: `ends`, `succeeds`, `gives`, `fails`, `counts`,
    or `differs`, with what it must not be."""


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that shows the finding without the kit, or a run for `farref replay`."""

    name: str
    text: str


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of one check of a clause."""

    id: str
    """The clause, and a word after a dot where it has several checks."""
    clause: str
    title: str
    level: Level
    verdict: Verdict
    seconds: float
    message: str
    replay: str | None
    """The command that runs this check again."""
    spec: str
    """What the clause says."""
    says: str = ""
    """What the check holds the backend to, in one sentence."""
    because: str = ""
    """Why it has its level."""
    rate: str | None = None
    """How often it failed, n of m, where it was run more than once."""
    reason: str | None = None
    """Why a failure is expected."""
    link: str | None = None
    trace: str | None = None
    """Where the adapter, or the backend, raised what it must not: the last lines of the trace of the stack."""
    story: tuple[Operation, ...] = ()
    scripts: tuple[Script, ...] = ()


def was_not_begun(row: Row) -> bool:
    """Say whether there is a check, and the run ended before it."""
    return row.verdict is Verdict.UNTESTED and row.replay is not None


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a backend."""

    format: Literal["farref-conformance/1"]
    backend: str
    version: str
    capabilities: tuple[str, ...]
    seed: int
    seconds: float
    summary: dict[str, int]
    clauses: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What else is worth knowing: stale expectations, a budget that ended."""
    expectations: str | None = None
    """The file that says which failures are expected."""


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reports of several backends, side by side."""

    format: Literal["farref-conformance-matrix/1"]
    reports: tuple[Report, ...]


Document = Report | Matrix


class DocumentError(Exception):
    """Something is no report; the message says why."""


class _Head(msgspec.Struct):
    format: Literal["farref-conformance/1", "farref-conformance-matrix/1"]


def decode(content: bytes) -> tuple[Report, ...]:
    """Read the reports of a document, of whichever of the two formats."""
    try:
        if msgspec.json.decode(content, type=_Head).format == FORMAT:
            return (msgspec.json.decode(content, type=Report),)
        reports = msgspec.json.decode(content, type=Matrix).reports
    except ValueError as error:
        raise DocumentError(f"not a conformance report: {error}") from error
    except RecursionError as error:
        raise DocumentError("not a conformance report: it is nested too deeply") from error
    if not reports:
        raise DocumentError("a matrix of no reports: there is nothing to show")
    return reports


def merged(reports: tuple[Report, ...]) -> tuple[Report, ...]:
    """Put reports of one backend together, by its name and version: what a later one has run replaces what was there."""
    found: dict[tuple[str, str], Report] = {}
    for report in reports:
        before = found.get((report.backend, report.version))
        found[report.backend, report.version] = report if before is None else _joined(before, report)
    return tuple(found.values())


def _joined(before: Report, after: Report) -> Report:
    rows = {row.id: row for row in before.clauses}
    rows |= {row.id: row for row in after.clauses if row.id not in rows or row.verdict is not Verdict.UNTESTED}
    clauses = tuple(rows.values())
    seconds = before.seconds + after.seconds
    return msgspec.structs.replace(after, clauses=clauses, summary=summarise(clauses), seconds=seconds)


def together(reports: tuple[Report, ...]) -> Document:
    """Make one document of some reports: one is itself, several are a matrix."""
    return reports[0] if len(reports) == 1 else Matrix(MATRIX_FORMAT, reports)


def schema() -> dict[str, Any]:
    """Give the JSON Schema of what `farref conform --format json` prints: a report, or a matrix of several."""
    (report, matrix), parts = msgspec.json.schema_components((Report, Matrix), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conformance report of farref",
        "anyOf": [report, matrix],
        "$defs": parts,
    }


def summarise(rows: tuple[Row, ...]) -> dict[str, int]:
    """Count the verdicts, those that did not occur too."""
    return {verdict.value: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
