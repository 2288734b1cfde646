"""JUnit XML, which build servers read: suites of cases. What the cases are, each command says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from farref.words import legal

CaseResult = Literal["failure", "error", "skipped"]


@dataclass(frozen=True)
class Case:
    """One test: nothing became of it if it passed, else what, of which type, in a line and at length."""

    classname: str
    name: str
    seconds: float
    outcome: CaseResult | None = None
    type: str = ""
    message: str = ""
    text: str = ""


@dataclass(frozen=True)
class Suite:
    """Some tests, and what is to be known of all of them."""

    name: str
    seconds: float
    cases: Sequence[Case]
    properties: Mapping[str, str] = field(default_factory=dict)


def junit(suites: Sequence[Suite]) -> str:
    """Write suites as one document."""
    root = Element("testsuites", _counts([case for suite in suites for case in suite.cases]))
    root.set("time", _seconds(sum(suite.seconds for suite in suites)))
    for suite in suites:
        root.append(_suite(suite))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(suite: Suite) -> Element:
    element = Element("testsuite", {"name": legal(suite.name), **_counts(suite.cases)})
    element.set("time", _seconds(suite.seconds))
    properties = SubElement(element, "properties")
    for name, value in suite.properties.items():
        SubElement(properties, "property", {"name": name, "value": legal(value)})
    for case in suite.cases:
        element.append(_case(case))
    return element


def _case(case: Case) -> Element:
    element = Element("testcase", {"classname": legal(case.classname), "name": legal(case.name)})
    element.set("time", _seconds(case.seconds))
    if case.outcome is not None:
        said = {"type": case.type, "message": legal(case.message)}
        SubElement(element, case.outcome, said).text = legal(case.text)
    return element


def _counts(cases: Sequence[Case]) -> dict[str, str]:
    outcomes = [case.outcome for case in cases]
    names: dict[str, CaseResult] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": str(len(cases)), **{name: str(outcomes.count(outcome)) for name, outcome in names.items()}}


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"
