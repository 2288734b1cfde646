"""Reports as JUnit XML, which build servers read: a suite for each backend, a case for each check.

An expected failure is a skipped case, as pytest does it, and so is one of a clause that says MAY; an unexpected pass is a
failure, as somebody must look at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from farref.properties.conformance.kit.document import Report, Row, Verdict
from farref.rendering.conformance.conclusion import is_red, printable, rate, title, told
from farref.words import legal

ELEMENTS: Final = {
    Verdict.PASS: None,
    Verdict.FAIL: "failure",
    Verdict.UNEXPECTED_PASS: "failure",
    Verdict.ERROR: "error",
    Verdict.EXPECTED_FAIL: "skipped",
    Verdict.SKIPPED: "skipped",
    Verdict.BLOCKED: "skipped",
    Verdict.UNTESTED: "skipped",
}


def to_junit(reports: Sequence[Report]) -> str:
    """Write reports as one JUnit document."""
    reports = [printable(one) for one in reports]
    root = Element("testsuites", _counts([row for report in reports for row in report.clauses]))
    root.set("time", _seconds(sum(report.seconds for report in reports)))
    for report in reports:
        root.append(_suite(report))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(report: Report) -> Element:
    suite = Element("testsuite", {"name": legal(title(report)), **_counts(report.clauses)})
    suite.set("time", _seconds(report.seconds))
    properties = SubElement(suite, "properties")
    said = {"version": report.version, "seed": str(report.seed), "expectations": report.expectations or "none"}
    for name, value in said.items():
        SubElement(properties, "property", {"name": name, "value": legal(value)})
    for row in report.clauses:
        suite.append(_case(row, report))
    return suite


def _case(row: Row, report: Report) -> Element:
    case = Element("testcase", {"classname": legal(report.backend), "name": legal(row.id)})
    case.set("time", _seconds(row.seconds))
    if (element := _element(row)) is not None:
        message = f"{row.verdict.value}: {_reason(row)}"
        SubElement(case, element, {"type": row.verdict.value, "message": legal(message)}).text = legal(told(row))
    return case


def _element(row: Row) -> str | None:
    is_optional = row.verdict is Verdict.FAIL and not is_red(row)
    return "skipped" if is_optional else ELEMENTS[row.verdict]


def _reason(row: Row) -> str:
    known = f"; {row.reason} ({row.link})" if row.reason else ""
    return f"{row.title}{rate(row)}: {row.message}{known}"


def _counts(rows: Sequence[Row]) -> dict[str, str]:
    elements = [_element(row) for row in rows]
    names = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(rows)), **{name: str(elements.count(element)) for name, element in names.items()}}


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
