"""The kit finds mistakes of a core that everything else of a backend is right about, among them PyTorch's N1."""

from __future__ import annotations

import pytest

from farref.properties.conformance.kit.document import Verdict
from farref.rendering.conformance.conclusion import Conclusion, conclusion
from tests.properties.conformance.checks.judging import having, judged

FOUND_BY = {
    "expected_entry_is_dropped": "R21.overtaken",
    "fetch_does_not_pin": "R20.overtaken",
    "call_runs_unconfirmed": "R16.parked",
}


@pytest.mark.parametrize("mutant", FOUND_BY)
def test_it_does_not_conform(mutant: str) -> None:
    report = judged(f"backends.mutated:{mutant}", [FOUND_BY[mutant]])
    assert having(report, Verdict.FAIL) == {FOUND_BY[mutant]}
    assert conclusion((report,)) is Conclusion.BROKEN
