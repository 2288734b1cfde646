"""Judge a backend: run the checks one after another, whatever happens, and say what became of each.

A check that fails is run again, to learn whether it always does. One whose failure is expected is not, unless it is expected
only sometimes: what is known need not be measured each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

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
from farref.properties.conformance.kit.telling import shortened
from farref.properties.conformance.kit.verdicts import CheckRun, ClauseText, notes, unseen, with_expectation

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
    start_seconds: float = START_SECONDS
    """How long the backend may take to start."""
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
        self._adapter = CheckedAdapter(plan.command, plan.seed, plan.start_seconds)
        self._identity: Identity | None = None
        self._begun = time.monotonic()
        self._rows: dict[str, Row] = {}

    def run(self) -> Report:
        """Run all checks; raise AdapterError if the adapter cannot be talked to at all, and Interrupted for Ctrl-C."""
        try:
            self.identity()
            for check in self.plan.checks:
                self.judge(check)
            self.end()
        except BaseException as error:  # nothing may be left behind, and nobody wants to wait
            self._adapter.put_down()
            if isinstance(error, KeyboardInterrupt) and self._rows:
                raise Interrupted(self._cut_short()) from error
            raise
        return self.report()

    def end(self) -> None:
        """Stop everything."""
        self._adapter.end()

    def _cut_short(self) -> Report:
        for check in self.plan.checks:
            if check.id not in self._rows:
                self._rows[check.id] = self._row(check, Verdict.UNTESTED, "the run was interrupted")
        return self.report()

    def identity(self) -> Identity:
        """Start the adapter, unless it runs, and say who it is."""
        if self._identity is None:
            self._identity = self._adapter.talk().identity
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
            notes=notes(identity.capabilities, self.plan.checks, self.plan.expectations, rows),
            expectations=self.plan.expectations_file,
        )

    # -- one check -----------------------------------------------------------------------------------------------------

    def _judged(self, check: Check, capabilities: frozenset[str]) -> Row:
        if missing := sorted(check.needs - capabilities):
            reasons = self.identity().reasons
            why = "".join(f"; {reason}" for reason in dict.fromkeys(reasons[one] for one in missing if one in reasons))
            return self._row(check, Verdict.SKIPPED, f"the backend does not declare {', '.join(missing)}{why}")
        broken = [one for one in check.after if one in self._rows and self._rows[one].verdict in BAD]
        if broken:
            return self._row(check, Verdict.BLOCKED, f"{', '.join(broken)} must be kept first")
        if self.plan.seconds is not None and time.monotonic() - self._begun > self.plan.seconds:
            return self._row(check, Verdict.UNTESTED, f"the {self.plan.seconds:g} s were over")
        return self._tried(check)

    def _tried(self, check: Check) -> Row:
        begun, expectation = time.monotonic(), self.plan.expectations.get(check.id)
        outcomes = [self._adapter.run(check)]
        while self._again(outcomes, expectation):
            outcomes.append(self._adapter.run(check))
        failed = [one for one in outcomes if one.verdict is not Verdict.PASS]
        shown = failed[0] if failed else outcomes[0]
        verdict, message = with_expectation(shown, expectation)
        rate = f"{len(failed)} of {len(outcomes)}" if len(outcomes) > 1 else None
        row = self._row(check, verdict, message, time.monotonic() - begun, rate, shown.story, expectation)
        return msgspec.structs.replace(row, trace=shown.trace)

    def _again(self, outcomes: Sequence[CheckRun], expectation: Expectation | None) -> bool:
        if len(outcomes) >= self.plan.runs or any(one.verdict is Verdict.ERROR for one in outcomes):
            return False
        if expectation is not None:
            return expectation.is_flaky and all(one.verdict is Verdict.PASS for one in outcomes)
        return any(one.verdict is Verdict.FAIL for one in outcomes)

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
            message=shortened(message),
            replay=self.plan.replay(check.id),
            spec=clause.text,
            says=check.says,
            rate=rate,
            reason=expectation.reason if expectation else None,
            link=expectation.link if expectation else None,
            story=story,
        )
        return msgspec.structs.replace(row, scripts=self.plan.scripts(check, row)) if story else row
