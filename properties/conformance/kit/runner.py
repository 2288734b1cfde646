"""Judge a backend: run the checks one after another, whatever happens, and say what became of each.

With `jobs` several adapters are started, where the backend declares that this can be done, and checks are run side by side.
A check that fails is run again, to learn whether it always does. One whose failure is expected is not, unless it is expected
only sometimes: what is known need not be measured each time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec

from farref.properties.conformance.conversation.session import Identity
from farref.properties.conformance.conversation.trial import START_SECONDS
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.checked_adapter import CheckedAdapter
from farref.properties.conformance.kit.document import (
    FORMAT,
    Operation,
    Report,
    Row,
    Script,
    Verdict,
    summarise,
)
from farref.properties.conformance.kit.expectations import Expectation
from farref.properties.conformance.kit.queue import CheckQueue
from farref.properties.conformance.kit.route import SHRINK_SECONDS, Route, shortened_route
from farref.properties.conformance.kit.telling import shortened
from farref.properties.conformance.kit.verbs import SCHEDULES
from farref.properties.conformance.kit.verdicts import CheckRun, ClauseText, notes, unseen, with_expectation

Result = TypeVar("Result")
SEVERAL: Final = "several"
LISTEN: Final = 0.2
"""Seconds after which whoever waits for threads looks whether Ctrl-C was pressed; another thread may have got the signal."""
BAD: Final = (Verdict.FAIL, Verdict.EXPECTED_FAIL, Verdict.BY_DESIGN, Verdict.ERROR, Verdict.BLOCKED)


@dataclass(frozen=True)
class Plan:
    """What is to be judged, and how."""

    command: tuple[str, ...]
    replay: Callable[[str], str]
    """Gives the command that runs a check again."""
    clauses: Mapping[str, ClauseText]
    checks: tuple[Check, ...]
    expectations: Mapping[str, Expectation] = field(default_factory=dict)
    seed: int = 0
    seconds: float | None = None
    runs: int = 3
    """How often a check is run that fails."""
    expectations_file: str | None = None
    jobs: int = 1
    """How many checks may be run at once, if the backend declares `several`."""
    start_seconds: float = START_SECONDS
    """How long the backend may take to start."""
    schedules: int = SCHEDULES
    """How many schedules a backend is driven through step by step."""
    shrink_seconds: float = SHRINK_SECONDS
    """How long it may take to make a run of random steps shorter."""
    scripts: Callable[[Check, Row], tuple[Script, ...]] = lambda _check, _row: ()
    """Gives the programs that show what became of a check."""


class Interrupted(Exception):  # noqa: N818 (it says what happened)
    """Somebody pressed Ctrl-C; `report` has what was found until then."""

    def __init__(self, report: Report) -> None:
        super().__init__("interrupted")
        self.report = report


class Runner:
    """Carries out a plan."""

    def __init__(self, plan: Plan, on_row: Callable[[Row], None] = lambda _: None) -> None:
        self.plan, self._on_row = plan, on_row
        self._adapters = [
            CheckedAdapter(plan.command, plan.seed, plan.start_seconds, plan.schedules) for _ in range(plan.jobs)
        ]
        self._entering = threading.Lock()
        self._identity: Identity | None = None
        self._begun = time.monotonic()
        self._rows: dict[str, Row] = {}

    def run(self) -> Report:
        """Run all checks; raise AdapterError if the adapter cannot be talked to at all, and Interrupted for Ctrl-C."""
        try:
            if SEVERAL in self.identity().capabilities and self.plan.jobs > 1:
                self._run_side_by_side()
            else:
                for check in self.plan.checks:
                    self.judge(check)
            self.end()
        except BaseException as error:  # nothing may be left behind, and nobody wants to wait
            _undisturbed(self._put_down)
            if isinstance(error, KeyboardInterrupt) and self._rows:
                raise Interrupted(_undisturbed(self._cut_short)) from error
            raise
        return self.report()

    def end(self) -> None:
        """Stop everything."""
        for adapter in self._adapters:
            adapter.end()

    def _put_down(self) -> None:
        for adapter in self._adapters:
            adapter.put_down_for_good()

    def _run_side_by_side(self) -> None:
        """Let each adapter take the next check that can be run, until there are no more."""
        queue, capabilities = CheckQueue(self.plan.checks), self.identity().capabilities

        def work(adapter: CheckedAdapter) -> None:
            while (check := queue.take()) is not None:
                row = self._judged(check, capabilities, adapter)
                if not queue.is_stopped:  # else it was cut off, and says nothing
                    self._enter(row)
                queue.done(check)

        with ThreadPoolExecutor(len(self._adapters)) as pool:
            try:
                working = {pool.submit(work, adapter) for adapter in self._adapters}
                while working:
                    done, working = wait(working, LISTEN, FIRST_COMPLETED)
                    for one in done:
                        one.result()
            except BaseException:
                queue.stop()
                _undisturbed(self._put_down)  # so that no thread waits for an answer
                raise

    def _cut_short(self) -> Report:
        for check in self.plan.checks:
            if check.id not in self._rows:
                self._rows[check.id] = self._row(check, Verdict.UNTESTED, "the run was interrupted")
        return self.report()

    def identity(self) -> Identity:
        """Start the adapter, unless it runs, and say who it is."""
        if self._identity is None:
            self._identity = self._adapters[0].talk().identity
        return self._identity

    def judge(self, check: Check) -> Row:
        """Run one check, and enter its row."""
        return self._enter(self._judged(check, self.identity().capabilities, self._adapters[0]))

    def report(self) -> Report:
        """Put the rows together, with one for each clause that no check looks at."""
        seen = {row.clause for row in self._rows.values()}
        for clause in self.plan.clauses.values():
            if clause.id not in seen:
                self._enter(unseen(clause))
        clauses, checks = list(self.plan.clauses), [one.id for one in self.plan.checks]
        place = {row.id: (clauses.index(row.clause), *_place(checks, row.id)) for row in self._rows.values()}
        identity, rows = self.identity(), tuple(sorted(self._rows.values(), key=lambda row: place[row.id]))
        return Report(
            format=FORMAT,
            backend=identity.name,
            version=identity.version,
            capabilities=tuple(sorted(identity.capabilities)),
            seed=self.plan.seed,
            seconds=round(time.monotonic() - self._begun, 3),
            summary=summarise(rows),
            clauses=rows,
            notes=(
                *notes(identity.capabilities, self.plan.checks, self.plan.expectations, rows),
                *self._about_jobs(),
                *self._about_stops(),
            ),
            expectations=self.plan.expectations_file,
        )

    def _about_jobs(self) -> tuple[str, ...]:
        is_one = self.plan.jobs == 1 or SEVERAL in self.identity().capabilities
        return () if is_one else (f"the adapter does not declare {SEVERAL}: its checks were run one at a time",)

    def _about_stops(self) -> tuple[str, ...]:
        unstopped = sum(one.unstopped for one in self._adapters)
        told = f"`stop` failed or did not end, or gave no list: {unstopped} of its stops"
        return (told,) if unstopped else ()

    # -- one check -----------------------------------------------------------------------------------------------------

    def _judged(self, check: Check, capabilities: frozenset[str], adapter: CheckedAdapter) -> Row:
        if missing := sorted(check.needs - capabilities):
            reasons = self.identity().reasons
            why = "".join(f"; {reason}" for reason in dict.fromkeys(reasons[one] for one in missing if one in reasons))
            return self._row(check, Verdict.SKIPPED, f"the backend does not declare {', '.join(missing)}{why}")
        broken = [one for one in check.after if one in self._rows and self._rows[one].verdict in BAD]
        if broken:
            return self._row(check, Verdict.BLOCKED, f"{', '.join(broken)} must be kept first")
        if self.plan.seconds is not None and time.monotonic() - self._begun > self.plan.seconds:
            return self._row(check, Verdict.UNTESTED, f"the {self.plan.seconds:g} s were over")
        return self._tried(check, adapter)

    def _tried(self, check: Check, adapter: CheckedAdapter) -> Row:
        begun, expectation = time.monotonic(), self.plan.expectations.get(check.id)
        outcomes = [adapter.run(check)]
        while self._again(outcomes, expectation):
            outcomes.append(adapter.run(check))
        failed = [one for one in outcomes if one.verdict is not Verdict.PASS]
        shown = self._shortened(failed[0], check, expectation, adapter) if failed else outcomes[0]
        verdict, message = with_expectation(shown, expectation)
        rate = f"{len(failed)} of {len(outcomes)}" if len(outcomes) > 1 else None
        row = self._row(check, verdict, message, time.monotonic() - begun, rate, shown.story, expectation)
        return msgspec.structs.replace(row, trace=shown.trace, scripts=(*row.scripts, *shown.files))

    def _shortened(
        self, found: CheckRun, check: Check, expectation: Expectation | None, adapter: CheckedAdapter
    ) -> CheckRun:
        """Make a run of random steps shorter, unless it is known to fail: then nobody reads it."""
        if found.route is None or found.verdict is not Verdict.FAIL or expectation is not None:
            return found

        def again(route: Route) -> CheckRun | None:
            outcome = adapter.run(check, route)
            return outcome if outcome.verdict is Verdict.FAIL else None

        return shortened_route(found, again, self.plan.shrink_seconds)

    def _again(self, outcomes: Sequence[CheckRun], expectation: Expectation | None) -> bool:
        if len(outcomes) >= self.plan.runs or any(one.verdict is Verdict.ERROR for one in outcomes):
            return False
        if expectation is not None:
            return expectation.is_flaky and all(one.verdict is Verdict.PASS for one in outcomes)
        return any(one.verdict is Verdict.FAIL for one in outcomes)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _enter(self, row: Row) -> Row:
        with self._entering:
            self._rows[row.id] = row
            self._on_row(row)
        return row

    def _row(
        self,
        check: Check,
        verdict: Verdict,
        message: str,
        seconds: float = 0.0,
        rate: str | None = None,
        story: tuple[Operation, ...] = (),
        expectation: Expectation | None = None,
    ) -> Row:
        clause = self.plan.clauses[check.clause]
        row = Row(
            id=check.id,
            clause=clause.id,
            title=clause.title,
            level=check.level,
            verdict=verdict,
            seconds=round(seconds, 3),
            message=shortened(message),
            replay=self.plan.replay(check.id),
            spec=clause.text,
            says=check.says,
            because=check.because,
            rate=rate,
            reason=expectation.reason if expectation else None,
            link=expectation.link if expectation else None,
            story=story,
        )
        return msgspec.structs.replace(row, scripts=self.plan.scripts(check, row)) if story else row


def _place(checks: Sequence[str], check: str) -> tuple[int, ...]:
    return (checks.index(check),) if check in checks else ()


def _undisturbed(do: Callable[[], Result]) -> Result:
    """Do something that takes a moment and loses nothing if it is begun again, however often Ctrl-C is pressed meanwhile."""
    while True:
        try:
            return do()
        except KeyboardInterrupt:  # somebody cannot wait; what was found is not lost for that
            continue
