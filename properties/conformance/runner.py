"""Judge a backend: run the checks one after another, whatever happens, and say what became of each.

A world is used again by the next check if it is as good as new: the check was passed and all counts are zero. After anything
else a new one is started, so that no clause is blamed for another. What cannot be stopped is put down. Nobody judges how a
spoilt world stops, so its workers are killed first where that can be done: what is left of it need not be waited for.

A check that fails is run again, to learn whether it always does. One whose failure is expected is not, unless it is expected
only sometimes: what is known need not be measured each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec

from farref.properties.conformance.check import Check
from farref.properties.conformance.document import FORMAT, Operation, Report, Row, Script, Verdict, summarise
from farref.properties.conformance.expectations import Expectation
from farref.properties.conformance.session import UNSUPPORTED, AdapterError, Hang, Identity, OperationFailed, Session
from farref.properties.conformance.verdicts import ClauseText, Outcome, how_broken, notes, unseen, with_expectation
from farref.properties.conformance.world import Violation, World

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 15.0
BAD: Final = (Verdict.FAIL, Verdict.EXPECTED_FAIL, Verdict.ERROR, Verdict.BLOCKED)


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
        self._session: Session | None = None
        self._identity: Identity | None = None
        self._started: tuple[tuple[str, ...], tuple[tuple[str, float], ...]] | None = None
        self._begun = time.monotonic()
        self._rows: dict[str, Row] = {}

    def run(self) -> Report:
        """Run all checks; raise AdapterError if the adapter cannot be talked to at all, and Interrupted for Ctrl-C."""
        try:
            self.identity()
            for check in self.plan.checks:
                self.judge(check)
        except BaseException as error:  # nothing may be left behind, and nobody wants to wait
            self._put_down()
            if isinstance(error, KeyboardInterrupt) and self._rows:
                raise Interrupted(self._cut_short()) from error
            raise
        self.end()
        return self.report()

    def _cut_short(self) -> Report:
        for check in self.plan.checks:
            if check.id not in self._rows:
                self._rows[check.id] = self._row(check, Verdict.UNTESTED, "the run was interrupted")
        return self.report()

    def identity(self) -> Identity:
        """Start the adapter, unless it runs, and say who it is."""
        if self._identity is None:
            self._identity = self._talk().identity
        return self._identity

    def judge(self, check: Check) -> Row:
        """Run one check, and enter its row."""
        return self._enter(self._judged(check, self.identity().capabilities))

    def report(self) -> Report:
        """Put the rows together, with one for each clause that no check looks at."""
        seen = {row.clause for row in self._rows.values()}
        for clause in self.plan.clauses.values():
            if clause.id not in seen:
                self._enter(unseen(clause))
        place = {clause: number for number, clause in enumerate(self.plan.clauses)}
        identity, rows = self.identity(), tuple(sorted(self._rows.values(), key=lambda row: place[row.clause]))
        return Report(
            format=FORMAT,
            backend=identity.name,
            version=identity.version,
            capabilities=tuple(sorted(identity.capabilities)),
            seed=self.plan.seed,
            seconds=round(time.monotonic() - self._begun, 3),
            summary=summarise(rows),
            clauses=rows,
            notes=notes(identity.capabilities, self.plan.expectations, rows),
            expectations=self.plan.expectations_file,
        )

    # -- one check -----------------------------------------------------------------------------------------------------

    def _judged(self, check: Check, capabilities: frozenset[str]) -> Row:
        if missing := sorted(check.needs - capabilities):
            return self._row(check, Verdict.SKIPPED, f"the backend does not declare {', '.join(missing)}")
        broken = [one for one in check.after if one in self._rows and self._rows[one].verdict in BAD]
        if broken:
            return self._row(check, Verdict.BLOCKED, f"{', '.join(broken)} must be kept first")
        if self.plan.seconds is not None and time.monotonic() - self._begun > self.plan.seconds:
            return self._row(check, Verdict.UNTESTED, f"the {self.plan.seconds:g} s were over")
        return self._tried(check)

    def _tried(self, check: Check) -> Row:
        begun, expectation = time.monotonic(), self.plan.expectations.get(check.id)
        outcomes = [self._attempt(check)]
        while self._again(outcomes, expectation):
            outcomes.append(self._attempt(check))
        failed = [one for one in outcomes if one.verdict is not Verdict.PASS]
        shown = failed[0] if failed else outcomes[0]
        verdict, message = with_expectation(shown, expectation)
        rate = f"{len(failed)} of {len(outcomes)}" if len(outcomes) > 1 else None
        return self._row(check, verdict, message, time.monotonic() - begun, rate, shown.story, expectation)

    def _again(self, outcomes: Sequence[Outcome], expectation: Expectation | None) -> bool:
        if len(outcomes) >= self.plan.runs or any(one.verdict is Verdict.ERROR for one in outcomes):
            return False
        if expectation is not None:
            return expectation.rate == "sometimes" and all(one.verdict is Verdict.PASS for one in outcomes)
        return any(one.verdict is Verdict.FAIL for one in outcomes)

    def _attempt(self, check: Check) -> Outcome:
        """Run a check once, in a world that is fit for it."""
        world = None
        try:
            world = self._world(check)
            check.run(world)
        except (Violation, OperationFailed, Hang) as broken:
            if isinstance(broken, OperationFailed) and broken.kind == UNSUPPORTED:
                said = f"the adapter has declared what it cannot do: {broken}"
                return self._leave(Outcome(Verdict.ERROR, said, world.story() if world else ()))
            return self._leave(Outcome(Verdict.FAIL, how_broken(broken), world.blame(broken) if world else ()))
        except AdapterError as error:
            self._put_down()
            return Outcome(Verdict.ERROR, str(error), world.story() if world else ())
        except Exception as error:
            said = f"the check itself is wrong: {type(error).__name__}: {error}"
            return self._leave(Outcome(Verdict.ERROR, said, world.story() if world else ()))
        passed = Outcome(Verdict.PASS, "", world.story())
        spoilt = check.alone or any(one.verb == "fault" for one in passed.story)
        return self._leave(passed) if spoilt or not self._is_as_new(world) else passed

    def _leave(self, outcome: Outcome) -> Outcome:
        if (
            self._session is not None
            and self._started is not None
            and "fault.kill" in self._session.identity.capabilities
        ):
            kills = [{"kind": "kill", "worker": worker, "details": {}} for worker in self._started[0]]
            for request in [self._session.ask("fault", kill) for kill in kills]:
                with suppress(OperationFailed, Hang, AdapterError):
                    request.wait(STOP_SECONDS)
        self._stop()
        return outcome

    # -- worlds --------------------------------------------------------------------------------------------------------

    def _talk(self) -> Session:
        if self._session is None:
            self._session = Session(self.plan.command)
        return self._session

    def _world(self, check: Check) -> World:
        wanted = (check.workers, check.options)
        if self._started is not None and self._started != wanted:
            self._stop()
        session = self._talk()
        if self._started is None:
            start = {"workers": list(check.workers), "options": dict(check.options)}
            try:
                session.ask("start", start).wait(START_SECONDS)
            except (OperationFailed, Hang) as error:
                self._put_down()
                raise AdapterError(f"the backend does not start: {error}") from error
            self._started = wanted
        return World(session, check.workers, self.plan.seed)

    def _is_as_new(self, world: World) -> bool:
        try:
            world.tidy()
            if "probe" in world.session.identity.capabilities:
                world.empties()
        except (Violation, OperationFailed, Hang, AdapterError):
            return False
        return True

    def _stop(self) -> None:
        """Stop the world; if it does not stop, put down everything and begin with a new adapter."""
        if self._session is None or self._started is None:
            return
        self._started = None
        try:
            self._session.ask("stop", {}).wait(STOP_SECONDS)
        except (OperationFailed, Hang, AdapterError):
            self._put_down()

    def _put_down(self) -> None:
        self._started = None
        if self._session is not None:
            self._session.put_down()
            self._session = None

    def end(self) -> None:
        """Stop everything."""
        with suppress(AdapterError):
            self._stop()
        if self._session is not None:
            self._session.close()

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _enter(self, row: Row) -> Row:
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
            message=message,
            replay=self.plan.replay(check.id),
            spec=clause.text,
            says=check.says,
            rate=rate,
            reason=expectation.reason if expectation else None,
            link=expectation.link if expectation else None,
            story=story,
        )
        return msgspec.structs.replace(row, scripts=self.plan.scripts(check, row)) if story else row
