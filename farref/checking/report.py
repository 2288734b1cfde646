"""What a check found, put together from its configurations."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from farref.checking.search import Checked, Found, is_witness, worst
from farref.model.checker.interface import Counterexample, Property, Verdict
from farref.properties.protocol import Configuration
from farref.properties.traces.file import Trace, record
from farref.terminal.exits import BROKEN, OK, UNDECIDED

INTERNAL: Final = re.compile(r"calls of step|words of 64 bits")
"""The notes that are for those who work on the engines; they are in the JSON."""

EXIT_CODES: Final = {Verdict.HOLDS: OK, Verdict.VIOLATED: BROKEN, Verdict.INCOMPLETE: UNDECIDED}


class Report:
    """The findings of a request as a whole."""

    def __init__(self, found: Found) -> None:
        self.request, self.runs, self.stopped = found.request, found.runs, found.stopped
        everything = _union(found.runs)
        self.witnesses = [one for one in everything if is_witness(one)]
        self.claims = [one for one in everything if not is_witness(one)]
        self.properties = self.claims + self.witnesses
        self.verdicts = {one.id: self._verdict(one) for one in self.properties}
        self.coverage = _sum_coverage(found.runs)
        self.never_fired = [kind for kind, count in self.coverage.items() if not count]

    @property
    def unrun(self) -> list[Configuration]:
        """The configurations that were asked for and not searched."""
        return list(self.request.configurations[len(self.runs) :])

    @property
    def is_whole(self) -> bool:
        """Say whether every configuration was searched to its end."""
        return not self.unrun and all(run.verdict is not Verdict.INCOMPLETE for run in self.runs)

    def _verdict(self, property_: Property) -> Verdict:
        seen = [run.result.verdicts[property_.id] for run in self.runs if property_.id in run.result.verdicts]
        if is_witness(property_):
            return self._reached(seen)
        return worst([*seen, Verdict.INCOMPLETE] if self.unrun else seen)

    def _reached(self, seen: list[Verdict]) -> Verdict:
        """Reached anywhere is reached. Not reached is a fault of the portfolio, but only news about one configuration."""
        if Verdict.HOLDS in seen:
            return Verdict.HOLDS
        return Verdict.VIOLATED if self.request.is_portfolio and self.is_whole else Verdict.INCOMPLETE

    @property
    def verdict(self) -> Verdict:
        """The verdict on everything; a witness that one configuration does not reach has no say in it."""
        counted = self.properties if self.request.is_portfolio else self.claims
        return worst([self.verdicts[one.id] for one in counted])

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.verdict]

    @property
    def counterexamples(self) -> dict[str, tuple[Checked, Counterexample]]:
        """The counterexample of each violated property, the most severe first."""
        found = {one.id: _shortest_violation(self.runs, one) for one in self.claims}
        return {name: where for name, where in found.items() if where is not None}

    def steps_to_violation(self, property_: Property) -> int | None:
        """Count the steps of a property's counterexample; None if it has none."""
        found = self.counterexamples.get(property_.id)
        return None if found is None else len(found[1].actions)

    def shortest(self, witness: Property) -> int | None:
        """Count the steps of the shortest run that reaches a witness; None if none does."""
        runs = [run.result.witnesses[witness.id] for run in self.runs if witness.id in run.result.witnesses]
        return min(map(len, runs), default=None)

    @property
    def trace(self) -> Trace | None:
        """The counterexample that is shown: the shortest of the most severe property."""
        for run, found in self.counterexamples.values():
            bounds = run.configuration.bounds
            shown = replace(found, actions=self.request.about.familiar(bounds, found.actions))
            return record(bounds, self.request.profile, self.request.without, shown)
        return None

    @property
    def replay(self) -> str | None:
        """The command that shows that counterexample again."""
        for run, _ in self.counterexamples.values():
            return self.request.narrowed(run.configuration).command()
        return None

    @property
    def notes(self) -> list[str]:
        """What a reader has to know to believe the verdict no more than it deserves."""
        return [note for run in self.runs for note in _named(run, self.request.is_portfolio)] + self._unrun_notes()

    @property
    def caveats(self) -> list[str]:
        """The notes that limit the verdict: why a search, or the portfolio, did not go to its end."""
        cut = [run for run in self.runs if not run.is_decided]
        notes = [note for run in cut for note in _named(run, self.request.is_portfolio)]
        return [note for note in notes if not INTERNAL.search(note)] + self._unrun_notes()

    def _unrun_notes(self) -> list[str]:
        return [f"{self.stopped}; not run: {', '.join(repr(one.name) for one in self.unrun)}"] if self.unrun else []

    @property
    def distinct(self) -> int:
        """The distinct states of all configurations."""
        return sum(run.result.distinct for run in self.runs)

    @property
    def generated(self) -> int:
        """The states generated in all configurations."""
        return sum(run.result.generated for run in self.runs)

    @property
    def depth(self) -> int:
        """The depth of the deepest configuration."""
        return max((run.result.depth for run in self.runs), default=0)

    @property
    def seconds(self) -> float:
        """The wall time of all configurations."""
        return sum(run.result.seconds for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all configurations."""
        return sum(run.result.cpu_seconds for run in self.runs)

    @property
    def collision_bound(self) -> float:
        """How likely it is at most that two states were taken for one."""
        return sum(run.result.collision_bound for run in self.runs)

    @property
    def peak_mb(self) -> float:
        """The most memory used at any time."""
        return max((run.result.peak_mb for run in self.runs), default=0.0)


def _union(runs: tuple[Checked, ...]) -> list[Property]:
    """List the properties of all runs, in the order of the last run: it is the violated one, if one ended the check."""
    return list({one.id: one for run in reversed(runs) for one in run.properties}.values())


def _shortest_violation(runs: tuple[Checked, ...], property_: Property) -> tuple[Checked, Counterexample] | None:
    found = ((run, run.result.counterexamples.get(property_.id)) for run in runs)
    violations = [(run, counterexample) for run, counterexample in found if counterexample is not None]
    return min(violations, key=lambda where: len(where[1].actions), default=None)


def _sum_coverage(runs: tuple[Checked, ...]) -> dict[str, int]:
    coverage: dict[str, int] = {}
    for run in runs:
        for kind, count in run.result.coverage.items():
            coverage[kind] = coverage.get(kind, 0) + count
    return coverage


def _named(run: Checked, is_portfolio: bool) -> list[str]:
    return [f"{run.configuration.name}: {note}" if is_portfolio else note for note in run.result.notes]
