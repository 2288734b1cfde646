"""The conformance kit as a suite of pytest: `pytest --pyargs farref.properties.conformance --backend NAME`.

pytest loads this wherever farref is installed. It does nothing, and adds no option, unless the suite is named on the command
line: `--backend` is a word that others use too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from farref.properties.conformance.kit.check import Check
    from farref.properties.conformance.kit.document import Row
    from farref.properties.conformance.kit.runner import Plan, Runner

SUITE: Final = "farref.properties.conformance"
FIXTURE: Final = "conformance_check"
RUNNER: Final = pytest.StashKey["Runner"]()


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Add the options, before any conftest is read, if the suite is asked for."""
    if not any(word.partition("::")[0] == SUITE for word in args):
        return
    group = parser.getgroup("farref", "conformance of a backend")
    group.addoption("--backend", metavar="B", help="Who is judged: a name, a file.py or a module:attribute.")
    group.addoption("--adapter", metavar="COMMAND", help="The command of an adapter, instead of --backend.")
    group.addoption("--expectations", metavar="FILE", help="Failures that are known, a TOML file; or none.")
    group.addoption("--conformance-seed", type=int, default=0, help="Seed of whatever is drawn. Default 0.")
    group.addoption("--conformance-runs", type=int, default=3, help="How often a check is run that fails. Default 3.")
    early_config.pluginmanager.register(ConformancePlugin(), "farref-conformance")


class ConformancePlugin:
    """What happens while the suite is run."""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Find the backend, or say what is wrong with what was given."""
        config.stash[RUNNER] = make_runner(config)

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Stop the backend."""
        if RUNNER in config.stash:
            config.stash[RUNNER].end()

    def pytest_report_header(self, config: pytest.Config) -> str:
        """Say who is judged."""
        from farref.properties.conformance.conversation.session import AdapterError

        runner = config.stash[RUNNER]
        try:
            identity = runner.identity()
        except AdapterError as error:
            pytest.exit(f"farref: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
        return f"backend: {identity.name} {identity.version}, expectations: {runner.plan.expectations_file or 'none'}"

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one test of each check."""
        if FIXTURE in metafunc.fixturenames:
            checks = metafunc.config.stash[RUNNER].plan.checks
            metafunc.parametrize(FIXTURE, checks, ids=[one.id for one in checks])

    @pytest.fixture
    def judge(self, request: pytest.FixtureRequest, conformance_check: Check) -> Callable[[], None]:
        """Give the function that runs a check and ends the test as it deserves."""
        return lambda: conclude(request.config.stash[RUNNER].judge(conformance_check))


def conclude(row: Row) -> None:
    """End a test with the verdict of a check."""
    from farref.rendering.conformance.conclusion import is_red, told

    if row.verdict.value == "fail" and not is_red(row):
        pytest.xfail(f"the clause says MAY: {row.message}")
    match row.verdict.value:
        case "pass":
            return
        case "expected-fail" | "by-design":
            pytest.xfail(f"{row.message}: {row.reason} ({row.link})")
        case "skipped" | "blocked" | "untested":
            pytest.skip(f"{row.verdict.value}: {row.message}")
        case _:
            pytest.fail(told(row), pytrace=False)


def make_runner(config: pytest.Config) -> Runner:
    """Make the runner that the options ask for."""
    from farref.properties.conformance.kit.runner import Runner

    return Runner(_plan(config))


def _plan(config: pytest.Config) -> Plan:
    import shlex

    from farref.judging.plan import Asked, make_plan
    from farref.properties.conformance.kit.expectations import ExpectationsError
    from farref.properties.conformance.kit.named import NAMED, UnknownBackendError, spoken, target

    backend, adapter = config.getoption("--backend"), config.getoption("--adapter")
    if bool(backend) == bool(adapter):
        raise pytest.UsageError(
            f"give one of --backend ({', '.join(NAMED)}, a file.py, a module:attribute) and --adapter"
        )
    asked = Asked(
        expectations=config.getoption("--expectations"),
        seed=config.getoption("--conformance-seed"),
        runs=config.getoption("--conformance-runs"),
    )
    try:
        return make_plan(target(backend) if backend else spoken(tuple(shlex.split(adapter))), asked)
    except (UnknownBackendError, ExpectationsError) as error:
        raise pytest.UsageError(str(error)) from error
