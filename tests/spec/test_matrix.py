"""The matrix says what the expectations say: no check in it is unknown, and nothing in it is broken that nobody knows."""

from __future__ import annotations

import json
from typing import Any

from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.expectations import Expectation, read
from farref.properties.conformance.kit.named import EXPECTATIONS, NAMED
from farref.properties.conformance.kit.suite import gathered
from tests.pages.matrix import KEPT, page

MATRIX: dict[str, Any] = json.loads(KEPT.read_text())
KNOWN: dict[str, Expectation] = {
    f"{named.expectations} {check}": one
    for named in NAMED.values()
    if named.expectations
    for check, one in read(EXPECTATIONS / named.expectations, gathered()).items()
}


def test_every_check_is_known_and_told() -> None:
    for verdicts in MATRIX["systems"].values():
        assert set(verdicts) <= set(gathered())
        assert set(verdicts) <= set(MATRIX["checks"])


def test_what_is_broken_is_expected_and_leads_to_its_finding() -> None:
    links = {(key.rpartition(" ")[2], one.link) for key, one in KNOWN.items()}
    broken = [
        (check, link)
        for verdicts in MATRIX["systems"].values()
        for check, (verdict, *link) in verdicts.items()
        if Verdict(verdict) in (Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN)
    ]
    assert len(broken) >= 15
    assert all((check, *link) in links for check, link in broken)


def test_the_others_break_nothing_that_nobody_knows() -> None:
    for name, verdicts in MATRIX["systems"].items():
        if name not in MATRIX["ours"]:
            assert not {verdict for verdict, *_ in verdicts.values()} & {"fail", "error", "unexpected-pass"}, name


def test_one_that_is_not_ours_keeps_all_that_it_was_asked() -> None:
    (foolscap,) = [verdicts for name, verdicts in MATRIX["systems"].items() if name.startswith("Foolscap")]
    assert {verdict for verdict, *_ in foolscap.values()} == {"pass", "skipped"}
    assert page().count("✓") > 200
