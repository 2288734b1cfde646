"""Reports as JUnit XML: a suite for each backend, a case for each check.

An expected failure is a skipped case, as pytest does it, and so is one of a clause that says MAY; an unexpected pass is a
failure, as somebody must look at it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from farref.properties.conformance.kit.document import Report, Row, Verdict
from farref.rendering.conformance.conclusion import is_red, printable, rate, title, told
from farref.rendering.junit import Case, CaseResult, Suite, junit

OUTCOMES: Final[Mapping[Verdict, CaseResult | None]] = {
    Verdict.PASS: None,
    Verdict.FAIL: "failure",
    Verdict.UNEXPECTED_PASS: "failure",
    Verdict.ERROR: "error",
    Verdict.EXPECTED_FAIL: "skipped",
    Verdict.BY_DESIGN: "skipped",
    Verdict.SKIPPED: "skipped",
    Verdict.BLOCKED: "skipped",
    Verdict.UNTESTED: "skipped",
}


def to_junit(reports: Sequence[Report]) -> str:
    """Write reports as one JUnit document."""
    return junit([_suite(printable(one)) for one in reports])


def _suite(report: Report) -> Suite:
    said = {"version": report.version, "seed": str(report.seed), "expectations": report.expectations or "none"}
    return Suite(title(report), report.seconds, [_case(row, report) for row in report.clauses], said)


def _case(row: Row, report: Report) -> Case:
    is_optional = row.verdict is Verdict.FAIL and not is_red(row)
    outcome = "skipped" if is_optional else OUTCOMES[row.verdict]
    message = f"{row.verdict.value}: {_reason(row)}"
    return Case(report.backend, row.id, row.seconds, outcome, row.verdict.value, message, told(row))


def _reason(row: Row) -> str:
    known = f"; {row.reason} ({row.link})" if row.reason else ""
    return f"{row.title}{rate(row)}: {row.message}{known}"
