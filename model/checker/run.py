"""The books of one search, kept alike by every engine: what was counted, what was found, and what may be claimed.

The one rule that matters is honesty. A search that did not see every state (a budget, an interrupt, a first violation)
may say what it found broken and what it saw happen, but never that something holds in every state: what it did not
decide is *incomplete*. An eventually-property needs more than the states, it needs to know that no fair run goes round
for ever without it; an engine that could not find that out says so in `undecided`.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from farref.model.checker.interface import (
    Action,
    Budget,
    Case,
    Counterexample,
    Kind,
    Model,
    ModelError,
    Progress,
    Property,
    Result,
    Verdict,
)

OnProgress = Callable[[Progress], None]

PROGRESS_SECONDS = 1.0
NEVER_REACHED = "never reached"


def peak_mb(usage: resource.struct_rusage) -> float:
    """Say how much memory a process had at most. macOS counts bytes where others count kilobytes."""
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


@contextmanager
def collector_off() -> Iterator[None]:
    """Spare the garbage collector millions of immutable states; they hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Run:
    """Counts, findings and clocks of one search."""

    def __init__(
        self,
        engine: str,
        model: Model,
        properties: Sequence[Property],
        budget: Budget,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.engine, self.budget, self.on_progress = engine, budget, on_progress
        self.actions = tuple(model.actions)
        self.properties = tuple(properties)
        self._wall, self._cpu = time.monotonic(), time.process_time()
        self._told = self._wall
        self._refuse_twins()
        self.begin_again()

    def begin_again(self) -> None:
        """Open new books, with the clocks going on."""
        self.distinct, self.generated, self.depth = 1, 1, 1
        self.fired = [0] * len(self.actions)
        self.cut: str | None = None
        self.complete = False
        self.undecided: set[str] = set()
        self.counterexamples: dict[str, Counterexample] = {}
        self.witnesses: dict[str, tuple[Action, ...]] = {}
        self.collision_bound = 0.0
        self.notes: list[str] = []

    def _refuse_twins(self) -> None:
        ids = sorted(property_.id for property_ in self.properties)
        for one, other in pairwise(ids):
            if one == other:
                raise ModelError(f"two properties have the id {one!r}; verdicts are keyed by id")

    @property
    def violated(self) -> bool:
        """Whether anything is known to be broken."""
        return bool(self.counterexamples)

    def of_kind(self, kind: Kind) -> list[Property]:
        """List the properties of one kind that are not known to be broken, in the order given."""
        return [one for one in self.properties if one.kind is kind and one.id not in self.counterexamples]

    def unreached(self) -> list[Property]:
        """List the sometimes-properties that still want a witness."""
        return [one for one in self.of_kind(Kind.SOMETIMES) if one.id not in self.witnesses]

    def violate(
        self, property_: Property, case: Case, actions: tuple[Action, ...], loop_start: int | None = None
    ) -> None:
        """Note how a property breaks; the first way noted is a shortest one."""
        self.counterexamples.setdefault(property_.id, Counterexample(property_, case.label, actions, loop_start))

    def adopt_cycles(self, whole: Run) -> None:
        """Take over what another search found out about the same eventually-properties."""
        self.undecided |= {one.id for one in whole.properties if whole.verdict(one) is Verdict.INCOMPLETE}
        self.counterexamples = whole.counterexamples | self.counterexamples
        self.notes.append("cycles were examined by the reference engine, without symmetry")

    def seconds(self) -> float:
        """Tell the wall time since the search began."""
        return time.monotonic() - self._wall

    def is_spent(self, depth: int = 0) -> bool:
        """Say whether a budget is used up; from then on the search is cut short."""
        if self.cut is None:
            self.cut = self._limit_reached(depth)
        return self.cut is not None

    def _limit_reached(self, depth: int) -> str | None:
        budget = self.budget
        if budget.states_max is not None and self.distinct >= budget.states_max:
            return f"stopped after {self.distinct} states (limit {budget.states_max})"
        if budget.seconds_max is not None and self.seconds() >= budget.seconds_max:
            return f"stopped after {self.seconds():.1f} s (limit {budget.seconds_max} s)"
        if budget.depth_max is not None and depth >= budget.depth_max:
            return f"stopped at depth {depth} (limit {budget.depth_max})"
        return None

    def budget_left(self) -> Budget:
        """Give a budget for another search that takes part in this one."""
        seconds = self.budget.seconds_max
        return replace(self.budget, seconds_max=None if seconds is None else max(0.0, seconds - self.seconds()))

    def tell(self, frontier: int, *, at_once: bool = False) -> None:
        """Report progress, if anybody listens and either a level ended or a second has passed."""
        now = time.monotonic()
        if self.on_progress is not None and (at_once or now - self._told >= PROGRESS_SECONDS):
            self._told = now
            self.on_progress(Progress(self.distinct, self.generated, self.depth, frontier, now - self._wall))

    def result(self) -> Result:
        """Close the books."""
        verdicts = {one.id: self.verdict(one) for one in self.properties}
        broken = self._broken(verdicts)
        return Result(
            engine=self.engine,
            verdict=self._overall(list(verdicts.values())),
            distinct=self.distinct,
            generated=self.generated,
            depth=self.depth,
            seconds=self.seconds(),
            cpu_seconds=time.process_time() - self._cpu,
            peak_mb=peak_mb(resource.getrusage(resource.RUSAGE_SELF)),
            verdicts=verdicts,
            coverage=self._coverage(),
            counterexample=next(iter(broken.values()), None),
            counterexamples=broken,
            witnesses=dict(self.witnesses),
            collision_bound=self.collision_bound,
            notes=tuple(self.notes if self.cut is None else [self.cut, *self.notes]),
        )

    def verdict(self, property_: Property) -> Verdict:
        """Tell what is known of a property."""
        if property_.id in self.counterexamples:
            return Verdict.VIOLATED
        if property_.id in self.witnesses:
            return Verdict.HOLDS
        if not self.complete or property_.id in self.undecided:
            return Verdict.INCOMPLETE
        return Verdict.VIOLATED if property_.kind is Kind.SOMETIMES else Verdict.HOLDS

    def _broken(self, verdicts: dict[str, Verdict]) -> dict[str, Counterexample]:
        """List what is broken and how, in the order of the properties; what was never reached has no run to show."""
        violated = [one for one in self.properties if verdicts[one.id] is Verdict.VIOLATED]
        return {one.id: self.counterexamples.get(one.id, Counterexample(one, NEVER_REACHED, ())) for one in violated}

    def _overall(self, verdicts: list[Verdict]) -> Verdict:
        if Verdict.VIOLATED in verdicts:
            return Verdict.VIOLATED
        if not self.complete or Verdict.INCOMPLETE in verdicts:
            return Verdict.INCOMPLETE
        return Verdict.HOLDS

    def _coverage(self) -> dict[str, int]:
        coverage: dict[str, int] = {}
        for action, count in zip(self.actions, self.fired, strict=True):
            coverage[action.kind] = coverage.get(action.kind, 0) + count
        return coverage
