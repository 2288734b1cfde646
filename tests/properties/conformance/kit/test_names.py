"""A backend is judged by what it does: what it calls itself earns it nothing."""

from __future__ import annotations

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.named import NAMED
from tests.properties.judging import HONEST, ZOO, having, judged

NAMES = ("model", *NAMED)
CLAUSES = ["R13", "R33"]


@pytest.fixture(scope="module")
def honestly() -> set[str]:
    """What a backend passes under its own name."""
    return having(judged(HONEST, CLAUSES), Verdict.PASS)


@pytest.mark.parametrize("name", NAMES)
def test_a_lie_about_its_name_earns_no_pass(name: str, honestly: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIAR_NAME", name)
    report = judged(f"{ZOO}.odd:Liar", CLAUSES)
    assert report.backend == name
    assert having(report, Verdict.PASS) == honestly
    assert any("controlled" in note for note in report.notes), "it is ignored, and that is said"
