"""The matrix says what the expectations say: no check in it is unknown, and nothing in it is broken that nobody knows."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.properties.conformance.kit.expectations import Expectation, read
from farref.properties.conformance.kit.named import EXPECTATIONS, NAMED
from farref.properties.conformance.kit.suite import gathered
from farref.rendering.conformance.conclusion import is_red
from tests.farref.conformance import report, row
from tests.pages.matrix import KEPT, OURS, kept_of, page, picture, reports

SYSTEMS: list[dict[str, Any]] = json.loads(KEPT.read_text())["systems"]
REPORTS: list[Report] = reports()
KNOWN: dict[str, Expectation] = {
    f"{named.expectations} {check}": one
    for named in NAMED.values()
    if named.expectations
    for check, one in read(EXPECTATIONS / named.expectations, gathered()).items()
}


def test_there_is_a_column_for_every_system_that_is_judged_by_name() -> None:
    assert {one["name"] for one in SYSTEMS} == set(NAMED) - {"torch-faulty"}


def test_every_check_is_known_and_each_system_was_asked_the_same() -> None:
    asked = set(SYSTEMS[0]["rows"])
    assert asked <= set(gathered())
    for one in SYSTEMS:
        assert set(one["rows"]) == asked, one["name"]


def test_what_is_broken_is_expected_and_leads_to_its_finding() -> None:
    links = {(key.rpartition(" ")[2], one.link) for key, one in KNOWN.items()}
    known = (Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN)
    broken = [row for report in REPORTS for row in report.clauses if row.verdict in known]
    assert len(broken) >= 60
    assert all((row.id, row.link) in links for row in broken)


def test_what_is_broken_has_a_story_and_a_program() -> None:
    told = [
        row
        for report in REPORTS
        for row in report.clauses
        if row.verdict in (Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN) and "did not happen this time" not in row.message
    ]
    assert all(any(one.trouble for one in row.story) for row in told), [row.id for row in told]
    assert all(row.scripts for row in told)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: str(report.backend))
def test_nothing_is_broken_that_nobody_knows(report: Report) -> None:
    assert not [row.id for row in report.clauses if is_red(row) or row.verdict is Verdict.ERROR]


def test_ours_break_nothing() -> None:
    ours = [report for report in REPORTS if report.backend in OURS]
    assert len(ours) == 2
    binding = [row for report in ours for row in report.clauses if row.level is Level.MUST]
    assert {row.verdict for row in binding} <= {Verdict.PASS, Verdict.SKIPPED, Verdict.UNTESTED}


def test_one_that_is_not_ours_keeps_all_that_it_was_asked() -> None:
    (foolscap,) = [report for report in REPORTS if report.backend == "Foolscap"]
    assert {row.verdict for row in foolscap.clauses if row.replay} == {Verdict.PASS, Verdict.SKIPPED}
    assert page().count("✓") > 400


def test_the_picture_names_every_system() -> None:
    drawn = picture()
    assert all(report.backend in drawn for report in REPORTS)


def test_of_what_is_kept_no_story_is_told_and_of_what_is_broken_all() -> None:
    rows = (row("R20", Verdict.PASS, message="?"), row("R21", Verdict.FAIL, rate="3 of 3"))
    given = [msgspec.structs.replace(one, replay="farref conform --backend rpyc --only R20") for one in rows]
    kept = kept_of(report(*given))
    assert kept["name"] == "rpyc"
    assert kept["rows"]["R20"] == {"verdict": "pass"}
    assert kept["rows"]["R21"]["rate"] == "3 of 3"
    assert len(kept["rows"]["R21"]["story"]) == 3
