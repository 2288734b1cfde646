"""The kit finds what is wrong: the honest backend passes, and the others are caught, each by the right clauses only."""

from __future__ import annotations

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.properties.zoo.backends.wrong import WrongBackend
from farref.properties.zoo.catalogue import WRONG_BACKENDS
from farref.properties.zoo.toy.honest import CANNOT
from tests.properties.judging import CHECKS, HONEST, ZOO, having, judged

pytestmark = pytest.mark.waits

CLAUSES = [*dict.fromkeys(one.clause for one in CHECKS)]
SHARE = 8
"""How many clauses are looked at together. All of them would be the longest test of all."""


@pytest.mark.parametrize("first", range(0, len(CLAUSES), SHARE), ids=CLAUSES[::SHARE])
def test_the_honest_one_keeps_all_that_it_declares(first: int) -> None:
    report = judged(HONEST, CLAUSES[first : first + SHARE])
    assert having(report, *set(Verdict) - {Verdict.PASS, Verdict.SKIPPED, Verdict.UNTESTED}) == set()
    for row in report.clauses:
        if row.verdict is Verdict.SKIPPED:
            assert any(capability in row.message for capability in CANNOT)


def test_one_whose_workers_can_be_paused_keeps_what_needs_that() -> None:
    report = judged("farref.properties.zoo.toy.pausable:Pausable", ["R36", "R38", "R42"])
    assert having(report, Verdict.PASS) == {"R36", "R36.cut", "R38", "R38.zombie", "R42", "R42.parent"}


def test_what_the_honest_one_does_not_declare_is_skipped() -> None:
    beyond = [one.id for one in CHECKS if one.needs & CANNOT and one.id != one.clause]
    report = judged(HONEST, beyond)
    assert beyond, "some things it cannot do"
    assert having(report, Verdict.SKIPPED) == {*beyond}


@pytest.mark.parametrize("backend", WRONG_BACKENDS.values(), ids=WRONG_BACKENDS)
def test_it_is_caught_by_the_right_clause(backend: WrongBackend) -> None:
    report = judged(backend.place, backend.asked)
    assert report.backend == backend.name.replace("_", " ")
    assert having(report, Verdict.FAIL) == set(backend.caught_by)
    assert having(report, Verdict.BLOCKED) == set(backend.blocked)
    assert having(report, Verdict.ERROR, Verdict.UNTESTED) == set()


def test_an_adapter_that_dies_is_no_verdict_on_the_backend() -> None:
    report = judged(f"{ZOO}.odd:Dies", ["R10", "R20", "R22", "R23"])
    assert having(report, Verdict.ERROR) == {"R23.misuse"}
    assert having(report, Verdict.FAIL, Verdict.BLOCKED) == set()
    [row] = [row for row in report.clauses if row.id == "R23.misuse"]
    assert "exit code 3" in row.message
