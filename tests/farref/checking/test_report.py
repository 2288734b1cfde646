"""What a report makes of several searches."""

from __future__ import annotations

import pytest

from farref.checking.report import Report
from farref.checking.request import Request
from farref.checking.search import Checked, Found
from farref.model.checker import reference
from farref.model.checker.interface import Case, Kind, Property, Verdict
from farref.model.rref.model import RRefModel
from farref.model.rref.world import Bounds
from farref.properties.protocol import Configuration
from farref.rendering.checked import show

CLAIM = Property("P", "R1", Kind.ALWAYS, "a claim that holds", (Case("it", lambda _: True),))
WITNESS = Property("S", "R1", Kind.SOMETIMES, "a witness that nothing reaches", (Case("it", lambda _: False),))


def report(*, is_portfolio: bool) -> Report:
    """Search one configuration to its end, for a claim that holds and a witness that is not reached."""
    configuration = Configuration("one fork", Bounds(2, forks=1), "")
    result = reference.check(RRefModel(configuration.bounds), (CLAIM, WITNESS))
    request = Request((configuration,), is_portfolio=is_portfolio)
    return Report(Found(request, (Checked(configuration, (CLAIM, WITNESS), result),)))


def test_an_unreached_witness_is_only_news_in_one_configuration() -> None:
    told = report(is_portfolio=False)
    assert told.is_whole
    assert told.verdicts == {"P": Verdict.HOLDS, "S": Verdict.INCOMPLETE}
    assert (told.verdict, told.exit_code) == (Verdict.HOLDS, 0)


def test_an_unreached_witness_is_a_fault_of_the_portfolio(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(is_portfolio=True)
    assert told.verdicts == {"P": Verdict.HOLDS, "S": Verdict.VIOLATED}
    assert (told.verdict, told.exit_code) == (Verdict.VIOLATED, 1)
    show(told)
    assert "VIOLATED: never reached: S" in capsys.readouterr().out
