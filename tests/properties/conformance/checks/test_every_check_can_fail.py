"""A check that nothing can fail says nothing: each of them finds fault with a backend that does nothing right."""

from __future__ import annotations

from dataclasses import replace

from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.runner import Plan, Runner
from tests.properties.judging import CHECKS, TEXTS, ZOO, having


def passed(place: str, checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Give the checks that a backend passes, if none waits for another."""
    report = Runner(Plan(hosted(place), lambda id_: id_, TEXTS, checks, runs=1)).run()
    assert having(report, Verdict.ERROR) == set()
    return tuple(one for one in checks if one.id in having(report, Verdict.PASS))


def test_every_check_finds_fault_with_one_of_them() -> None:
    left = tuple(replace(one, after=()) for one in CHECKS)
    for place in (f"{ZOO}.saboteurs:Refuser", f"{ZOO}.saboteurs:Idle", f"{ZOO}.saboteurs:Hoarder"):
        left = passed(place, left)
    assert [one.id for one in left] == []
