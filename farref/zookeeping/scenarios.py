"""The unit tests of the core as an engine: those that reach the handler that is wrong, until one fails.

They are run once on the right core, to note which functions each of them calls. A test that never calls a handler cannot say
what it does. So a creature meets the tests that call its handler, the quickest first. It needs a checkout.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants.guards import GuardMutant
from farref.properties.zoo.mutants.mutant import Mutant
from farref.zookeeping.driven import alive, in_one_process
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

CHECKOUT: Final = Path(__file__).resolve().parents[2]
UNIT_TESTS: Final = CHECKOUT / "tests" / "impl" / "core"
CAMPAIGN: Final = "test_schedules.py"
"""The tests that draw schedules at length are left out: they are a campaign."""
OPTIONS: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", f"--rootdir={CHECKOUT}")


class Watch:
    """A plugin of pytest that counts what passed, and keeps the name of what failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test went."""
        self.passed += report.when == "call" and report.passed
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not even be read."""
        self.failed = self.failed or (report.nodeid if report.failed else "")


class Callers(Watch):
    """The same, which also notes for every function of the core which tests call it, and how long those take."""

    def __init__(self) -> None:
        super().__init__()
        self.callers: defaultdict[str, set[str]] = defaultdict(set)
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Look at every call that a test makes, from setting up to tearing down."""
        callers = self.callers

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                callers[frame.f_code.co_qualname].add(item.nodeid)

        sys.setprofile(note)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long a test took, too."""
        super().pytest_runtest_logreport(report)
        self.seconds[report.nodeid] += report.duration


def run(watch: Watch, *asked: str) -> int:
    """Run some tests, and print nothing."""
    with redirect_stdout(StringIO()):
        return int(pytest.main([*OPTIONS, *asked], plugins=[watch]))


@lru_cache(maxsize=1)
def callers() -> Callers:
    """Run all of them on the right core."""
    found = Callers()
    code = run(found, str(UNIT_TESTS), f"--ignore={UNIT_TESTS / CAMPAIGN}")
    assert code == pytest.ExitCode.OK, f"without any mistake: {found.failed or code}"
    return found


def handler(creature: Any) -> str:
    """Name the function that a creature gets wrong, as the tests call it."""
    kind = creature.kind if isinstance(creature, GuardMutant) else creature.place.__name__
    return f"{kind}.{creature.handler}"


def unit_tests(creature: Creature) -> Outcome:
    """Run the tests that call the handler with the mistake in it, until one fails."""
    known = callers()
    asked = sorted(known.callers[handler(creature)], key=lambda test: known.seconds[test])
    if not asked:
        return survived(0, "no test calls it")
    watch = Watch()
    with alive(creature):
        code = run(watch, "-x", *asked)
    if code == pytest.ExitCode.OK:
        return survived(watch.passed)
    return killed(watch.failed or f"pytest ended with {code}", watch.passed + 1)


ENGINE: Final = Engine(
    "tests",
    "pytest tests/impl/core: the tests that reach it",
    "tests",
    lambda one: isinstance(one, Mutant | GuardMutant) and in_one_process(one),
    unit_tests,
    lambda _: callers(),
)
"""It takes mistakes in the core."""
