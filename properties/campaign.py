"""A campaign: many seeded schedules, each taken by the model and by a backend in lockstep, to the end.

Everything follows from the seed: the same seed and number of schedules give the same steps, and the same digest of them. What a
campaign has to show for itself is counted: how often each fault happened, and which of the awkward situations of
`sometimes.py` it was in. A campaign in which an enabled fault never happened has shown nothing about it and is no success.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from farref.model import actions as act
from farref.model.world import Bounds, World
from farref.properties.backends.backend import Backend
from farref.properties.draw import Schedule, Stepper, draw_schedule
from farref.properties.observation import MessageView, Observation
from farref.properties.sometimes import rref_witnesses
from farref.properties.twin import Disagreement, Twin

MakeBackend = Callable[[bool], Backend]
"""Gives a backend, restless or not."""

FAULTS: Final[dict[str, tuple[type, ...]]] = {
    "reordered": (),
    "duplicated": (act.Duplicate,),
    "dropped": (act.DropMessage,),
    "timed_out": (act.AbandonFetch, act.TimeOutCreation),
    "failed": (act.FailCall,),
}
"""The faults that are counted, and the actions that are such a fault. A message is reordered by what overtakes it."""

NEEDS: Final = {"duplicated": "duplicates", "dropped": "drops", "timed_out": "timeouts", "failed": "failures"}
"""The bound that has to allow a fault."""

EVERYTHING: Final = Bounds(drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True)


@dataclass
class Tally:
    """What a campaign did, and what it found."""

    seed: int
    fixed: dict[str, Any]
    schedules: int = 0
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)
    disagreement: Disagreement | None = None
    schedule: Schedule | None = None  # the one with the disagreement
    seconds: float = 0.0
    interrupted: bool = False
    digest: Any = field(default_factory=hashlib.sha256)

    @property
    def sometimes(self) -> dict[str, bool]:
        """Say of each awkward situation whether it was reached."""
        return {one.id: one.id in self.reached for one in rref_witnesses(EVERYTHING)}

    @property
    def never_fired(self) -> list[str]:
        """List the faults that were allowed and did not happen."""
        allowed = [fault for fault in FAULTS if self.fixed.get(NEEDS.get(fault, ""), 1)]
        return [fault for fault in allowed if not self.faults[fault]]

    @property
    def trace_hash(self) -> str:
        """The digest of all steps of all schedules."""
        return str(self.digest.hexdigest())


def campaign(
    make_backend: MakeBackend,
    *,
    seed: int,
    seconds_max: float | None = None,
    schedules_max: int | None = None,
    first: int = 0,
    fixed: dict[str, Any] | None = None,
    on_schedule: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Run schedules until one disagrees, or time or number is used up."""
    tally, begin = Tally(seed, fixed or {}), time.monotonic()
    backends = {restless: make_backend(restless) for restless in (False, True)}
    try:
        while schedules_max is None or tally.schedules < schedules_max:
            schedule = draw_schedule(seed, first + tally.schedules, tally.fixed)
            run_schedule(schedule, backends[schedule.restless], tally)
            tally.schedules += 1
            tally.seconds = time.monotonic() - begin
            on_schedule(tally)
            if tally.disagreement or (seconds_max is not None and tally.seconds >= seconds_max):
                break
    except KeyboardInterrupt:
        tally.interrupted = True
    finally:
        for backend in backends.values():
            backend.close()
    return tally


def run_schedule(schedule: Schedule, backend: Backend, tally: Tally) -> None:
    """Take one schedule to its end, or to a disagreement, and count what happens in it."""
    tally.digest.update(repr(schedule).encode())
    try:
        twin = Twin(schedule.bounds, backend)
        stepper, watch = Stepper(schedule, schedule.random()), Watch(schedule.bounds, tally)
        while (action := stepper.draw(twin.world)) is not None:
            tally.digest.update(str(action).encode())
            tally.steps += 1
            twin.step(action)
            watch.note(action, twin.world, twin.observation)
        twin.check_end()
    except Disagreement as disagreement:
        tally.disagreement, tally.schedule = disagreement, schedule


class Watch:
    """Counts the faults of a schedule, and notes the situations it is in."""

    def __init__(self, bounds: Bounds, tally: Tally) -> None:
        self.tally = tally
        self.wanted = [one for one in rref_witnesses(bounds) if one.id not in tally.reached]
        self.flying: list[MessageView] = []  # oldest first

    def note(self, action: act.Action, world: World, observation: Observation) -> None:
        """Count the fault that a step is, and look at where it led."""
        for fault, kinds in FAULTS.items():
            if isinstance(action, kinds):
                self.tally.faults[fault] += 1
        now, known = set(observation.flying), set(self.flying)
        if isinstance(action, act.Deliver) and self._overtakes(now):
            self.tally.faults["reordered"] += 1
        self.flying = [one for one in self.flying if one in now]
        self.flying += [one for one in observation.flying if one not in known]
        for witness in list(self.wanted):
            if any(case.holds(world) for case in witness.cases):
                self.tally.reached.add(witness.id)
                self.wanted.remove(witness)

    def _overtakes(self, now: set[MessageView]) -> bool:
        """Say whether a message has arrived and an older one between the same two workers has not."""
        gone = [index for index, one in enumerate(self.flying) if one not in now]
        return any(
            _same_way(self.flying[index], older) for index in gone for older in self.flying[:index] if older in now
        )


def _same_way(one: MessageView, other: MessageView) -> bool:
    return (one.source, one.target) == (other.source, other.target)
