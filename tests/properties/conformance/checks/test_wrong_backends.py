"""The kit finds what is wrong: the honest backend passes, and the others are caught, each by the right clauses only."""

from __future__ import annotations

from typing import Final

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.properties.zoo.toy.honest import CANNOT
from tests.properties.conformance.checks.judging import having, judged

WRONG: Final[dict[str, tuple[str, str, str]]] = {
    "backends.wrong_counts:LeaksAFork": ("R4.raises R13 R20 R26 R28 R29", "R28 R28.owner", ""),
    "backends.wrong_counts:DeletesEarly": (
        "R12 R13 R14 R16 R19 R20 R22 R24 R26", "R12.argument R19.held R20.overtaken R22.local R24.quick",
        "R16.chain R16.self R16.twice R26.runs",
    ),
    "backends.wrong_counts:AppliesCopies": ("R7 R16 R20 R24.quick R25 R26", "R7", ""),
    "backends.wrong_counts:NeverRepeats": ("R6 R16 R20 R24.quick R26", "R6 R6.request", ""),
    "backends.wrong_counts:RegistersLate": ("R10 R16 R20 R31", "R10 R31.timeout", ""),
    "backends.wrong_answers:HangsOnFetch": ("R10 R16 R20 R23", "R10.raises",
        "R20.unwritable R23.raises R23.misuse R23.passed_on"),
    "backends.wrong_answers:AnswersWrongTypes": ("R4 R20", "R4.unharmed R20.unharmed", ""),
    "backends.wrong_answers:ForgetsTheTimeout": ("R4 R20 R26 R27", "R20.pins R27.fetch R27.default", "R27.counted R27.enough"),
    "backends.wrong_answers:ComputesAgain": ("R19 R20 R22", "R20.again R20.once", "R19.self R20.parked"),
    "backends.wrong_answers:SwallowsErrors": ("R4 R10 R28", "R4.raises", "R4.unwritable R28 R28.unreadable R28.missing"),
    "backends.wrong_answers:NeverSeesADeath": ("R4 R20 R34", "R34.waiting R34.freed",
        "R34.call R34.fetch R34.share R34.receiver R34.drop"),
    "backends.wrong_answers:HangsAtTheEnd": ("R20 R32 R34.user", "R32.dead", "R34.user"),
    "backends.wrong_counts:CountsOneOfMany": ("R12 R13 R14 R16 R20", "R16.each", "R16.parked"),
    "backends.wrong_counts:RunsUncounted": ("R12 R13 R14 R16 R20", "R16.parked", ""),
    "backends.wrong_counts:LeaksToItself": ("R13 R16 R19 R20", "R16.self R19.own", ""),
    "backends.wrong_counts:DeletesOnTimeout": ("R20 R22 R26 R27", "R27.counted", ""),
    "backends.wrong_answers:StopsAtOnce": ("R16 R20 R32", "R32.running R32.creation", ""),
    "backends.wrong_counts:DropsWhatIsExpected": ("R3 R16 R20 R21", "R21.overtaken", ""),
    "backends.wrong_counts:FetchDoesNotPin": ("R20 R26", "R20.overtaken", ""),
    "backends.wrong_answers:NeverSaysWhatItCannotWrite": ("R4 R10 R20", "R4.unwritable R20.unwritable", ""),
    "backends.wrong_gradients:BlamesEverybody": ("A13 A15", "A15.blames", ""),
    "backends.wrong_gradients:AddsInPlace": ("A8 A13 A23", "A23.apart", ""),
    "backends.wrong_gradients:LosesAGradient": ("A7 A8 A13 A22", "A8", "A8.self A13.local A13.back A13.diamond A13.relay"
        " A13.branches A13.fetch A7.unrecorded"),
    "backends.wrong_gradients:WaitsForEver": ("A9 A12 A14 A15 A20", "A9 A14 A15 A15.argument A15.fetch", "A15.blames"),
    "backends.wrong_gradients:KeepsAContext": ("A4 A25", "A4 A25", "A4.unpaired A25.busy A25.late A25.failed"),
    "backends.wrong_gradients:ShowsWhatFailed": ("A12 A17 A18 A19 A23", "A17 A17.late A19", ""),
    "backends.wrong_gradients:StaysInAPass": ("A12 A18 A19", "A12 A12.phantom A18 A18.next A19", ""),
    "backends.wrong_gradients:AppliesStaleGradients": ("A27", "A27.none A27.stale", ""),
    "backends.wrong_gradients:GivesZeros": ("A8 A13 A22", "A22.part", ""),
}  # fmt: skip
"""What each is judged by, what of it must fail, and what must be blocked by that; everything else must pass."""


def test_the_honest_one_keeps_all_that_it_declares() -> None:
    report = judged("toy.honest:Honest")
    skipped = having(report, Verdict.SKIPPED)
    assert having(report, *set(Verdict) - {Verdict.PASS, Verdict.SKIPPED, Verdict.UNTESTED}) == set()
    assert skipped, "some things it cannot do"
    for row in report.clauses:
        if row.id in skipped:
            assert any(capability in row.message for capability in CANNOT)


@pytest.mark.parametrize("place", list(WRONG))
def test_it_is_caught_by_the_right_clause(place: str) -> None:
    only, broken, blocked = (names.split() for names in WRONG[place])
    report = judged(place, only)
    assert having(report, Verdict.FAIL) == set(broken)
    assert having(report, Verdict.BLOCKED) == set(blocked)
    assert having(report, Verdict.ERROR, Verdict.UNTESTED) == set()


def test_an_adapter_that_dies_is_no_verdict_on_the_backend() -> None:
    report = judged("backends.wrong_answers:Dies", ["R10", "R20", "R22", "R23"])
    assert having(report, Verdict.ERROR) == {"R23.misuse"}
    assert having(report, Verdict.FAIL, Verdict.BLOCKED) == set()
    [row] = [row for row in report.clauses if row.id == "R23.misuse"]
    assert "exit code 3" in row.message
