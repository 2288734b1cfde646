"""The report: one JSON document, of which everything else that is shown is a rendering.

`farref-conformance/1` is its format; `schema()` gives the JSON Schema that is published as `spec/conformance.schema.json`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import msgspec

FORMAT: Final = "farref-conformance/1"


class Verdict(Enum):
    """What became of a check."""

    PASS = "pass"
    FAIL = "fail"
    EXPECTED_FAIL = "expected-fail"
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


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that shows the finding without the kit."""

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
    rate: str | None = None
    """How often it failed, n of m, where it was run more than once."""
    reason: str | None = None
    """Why a failure is expected."""
    link: str | None = None
    story: tuple[Operation, ...] = ()
    scripts: tuple[Script, ...] = ()


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a backend."""

    format: str
    backend: str
    version: str
    capabilities: tuple[str, ...]
    seed: int
    seconds: float
    summary: dict[str, int]
    clauses: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What else is worth knowing: stale expectations, a budget that ended."""


class Matrix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reports of several backends, side by side."""

    format: str
    reports: tuple[Report, ...]


MATRIX_FORMAT: Final = "farref-conformance-matrix/1"


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a report."""
    return msgspec.json.schema(Report)


def summarise(rows: tuple[Row, ...]) -> dict[str, int]:
    """Count the verdicts, those that did not occur too."""
    return {verdict.value: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
