"""The unit tests of core and shell as an engine: those that reach the handler that is wrong, until one fails.

They are collected once, and run once with nothing wrong to note which functions each of them calls. A test that never calls a
handler cannot say what it does. So a creature meets the tests that call its handler, the quickest first, in a process that is
forked when all is loaded: that takes a fraction of a second. It needs a checkout.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import lru_cache, partial
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from _pytest.config import _prepareconfig

from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants.guards import GuardMutant
from farref.properties.zoo.mutants.mutant import Mutant
from farref.zookeeping.driven import alive
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

CHECKOUT: Final = Path(__file__).resolve().parents[2]
UNIT_TESTS: Final = (CHECKOUT / "tests" / "impl" / "core", CHECKOUT / "tests" / "impl" / "worker" / "test_effects.py")
"""Those of the core, and those of the shell that need no thread."""
CAMPAIGNS: Final = ("test_schedules.py", "test_transitions.py")
"""The tests that draw schedules at length are left out: they are campaigns."""
OPTIONS: Final = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=no", f"--rootdir={CHECKOUT}")


class Watch:
    """A plugin of pytest that counts what passed, how long it took, and keeps the name of what failed."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = ""
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test went."""
        self.passed += report.when == "call" and report.passed
        self.failed = self.failed or (report.nodeid if report.failed else "")
        self.seconds[report.nodeid] += report.duration


class Scenarios:
    """The tests, collected, and for every function those that call it, the quickest first."""

    def __init__(self, *asked: str) -> None:
        self.watch = Watch()
        with redirect_stdout(StringIO()):
            config = _prepareconfig([*OPTIONS, *asked], [self.watch])
            config._do_configure()  # `pytest.main` would do no more, and end it
            session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=session)
            items = session.perform_collect()
            self.callers = self._ran(items)
        assert not self.watch.failed, f"without any mistake: {self.watch.failed}"

    def _ran(self, items: Sequence[Any]) -> dict[str, list[pytest.Item]]:
        """Run all of them with nothing wrong, and look at every call that they make."""
        callers: defaultdict[str, dict[pytest.Item, None]] = defaultdict(dict)
        for item in items:
            sys.setprofile(partial(_note, callers, item))
            try:
                run(item)
            finally:
                sys.setprofile(None)
        seconds = self.watch.seconds
        return {name: sorted(found, key=lambda item: seconds[item.nodeid]) for name, found in callers.items()}

    def first_failure(self, function: str) -> str:
        """Run the tests that call a function, until one fails; say which."""
        self.watch.passed, self.watch.failed = 0, ""
        with redirect_stdout(StringIO()):
            for item in self.callers.get(function, ()):
                run(item)
                if self.watch.failed:
                    break
        return self.watch.failed


def _note(callers: dict[str, dict[pytest.Item, None]], item: pytest.Item, frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        callers[frame.f_code.co_qualname][item] = None


def run(item: pytest.Item) -> None:
    """Run one test, from setting up to tearing down."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


@lru_cache(maxsize=1)
def scenarios() -> Scenarios:
    """Collect and run the tests. What is forked from here has them."""
    return Scenarios(*map(str, UNIT_TESTS), *(f"--ignore-glob=*/{name}" for name in CAMPAIGNS))


def handler(creature: Any) -> str:
    """Name the function that a creature gets wrong, as the tests call it."""
    kind = creature.kind if isinstance(creature, GuardMutant) else creature.place.__name__
    return f"{kind}.{creature.handler}"


def unit_tests(creature: Creature) -> Outcome:
    """Run the tests that call the handler with the mistake in it, until one fails."""
    known = scenarios()
    with alive(creature):
        failed = known.first_failure(handler(creature))
    return killed(failed, known.watch.passed + 1) if failed else survived(known.watch.passed)


ENGINE: Final = Engine(
    "tests",
    "pytest tests/impl: the tests of core and shell that reach it",
    "tests",
    lambda one: isinstance(one, Mutant | GuardMutant),
    unit_tests,
    lambda _: scenarios(),
)
"""It takes mistakes in the implementation."""
