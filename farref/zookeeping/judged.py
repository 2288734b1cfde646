"""The engines that judge from outside: the conformance kit, and the project's own unit tests."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

import pytest

from farref.clauses import clauses
from farref.properties.conformance.kit.document import Level, Report, Verdict
from farref.properties.conformance.kit.named import hosted
from farref.properties.conformance.kit.runner import Plan, Runner
from farref.properties.conformance.kit.suite import suite
from farref.properties.conformance.kit.verdicts import ClauseText
from farref.properties.zoo.backends.wrong import WrongBackend
from farref.properties.zoo.catalogue import RREF_MUTANTS
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.mutants.guards import GuardMutant
from farref.zookeeping.outcome import Engine, Outcome, killed, survived

MUTATED: Final = "farref.properties.zoo.backends.mutated"
CHECKOUT: Final = Path(__file__).resolve().parents[2]
UNIT_TESTS: Final = CHECKOUT / "tests" / "impl" / "core"
SCENARIOS: Final = {
    "rref": (
        "test_channel.py", "test_core.py", "test_peers.py", "test_troubles.py", "test_members.py", "test_members_buried.py",
        "test_cuts.py",
    ),
    "autograd": ("autograd/test_clauses.py", "autograd/test_members.py"),
}  # fmt: skip
"""The tests that tell a scenario each. Those that draw schedules are left out: they are campaigns."""


def kit(creature: Creature) -> Outcome:
    """Let the conformance kit judge a backend by the checks that it should fail."""
    if isinstance(creature, WrongBackend):
        report = _judged(creature.place, creature.asked)
    else:
        report = _judged(f"{MUTATED}:{creature.name}", creature.checks)
    failed = [row for row in report.clauses if row.verdict is Verdict.FAIL]
    if not failed:
        return survived(len(report.clauses))
    return killed(", ".join(row.id for row in failed), len(report.clauses), [row.message for row in failed])


def _judged(place: str, only: tuple[str, ...]) -> Report:
    chosen = tuple(one for one in suite(list(clauses())) if one.id in only or one.clause in only)
    texts = {one.clause: ClauseText(one.clause, one.clause, one.clause, Level.MUST) for one in chosen}
    return Runner(Plan(hosted(place), lambda id_: id_, texts, chosen, runs=1)).run()


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


def unit_tests(creature: Creature) -> Outcome:
    """Run the scenarios of the core with the mistake in it, until one fails. It needs a checkout."""
    assert isinstance(creature, GuardMutant)
    watch, files = Watch(), [str(UNIT_TESTS / name) for name in SCENARIOS[creature.protocol]]
    options = ["-x", "-q", "-p", "no:cacheprovider", f"--rootdir={CHECKOUT}"]
    with creature.alive(), redirect_stdout(StringIO()):
        code = pytest.main([*options, *files], plugins=[watch])
    if code == pytest.ExitCode.OK:
        return survived(watch.passed)
    return killed(watch.failed or f"pytest ended with {code}", watch.passed + 1)


ENGINES = (
    Engine(
        "kit", "farref conform: the checks that should see it", "checks",
        lambda one: isinstance(one, WrongBackend) or (one.name in RREF_MUTANTS and bool(one.checks)), kit,
    ),
    Engine(
        "tests", "pytest tests/impl/core: the scenarios of the core", "tests",
        lambda one: isinstance(one, GuardMutant), unit_tests,
    ),
)  # fmt: skip
