"""What a schedule did, and what a campaign has done so far."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from farref.model import actions as act
from farref.model.world import Bounds, World
from farref.properties.draw import Schedule
from farref.properties.observation import MessageView, Observation
from farref.properties.sometimes import rref_witnesses
from farref.properties.twin import Disagreement

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
SITUATIONS: Final = frozenset(one.id for one in rref_witnesses(EVERYTHING))


@dataclass
class Done:
    """What one schedule did, and what it found."""

    schedule: Schedule
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)
    disagreement: Disagreement | None = None
    digest: bytes = b""


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

    def add(self, done: Done) -> None:
        """Count one more schedule."""
        self.schedules += 1
        self.steps += done.steps
        self.faults += done.faults
        self.reached |= done.reached
        self.digest.update(done.digest)
        if done.disagreement is not None:
            self.disagreement, self.schedule = done.disagreement, done.schedule

    @property
    def sometimes(self) -> dict[str, bool]:
        """Say of each awkward situation whether it was reached."""
        return {name: name in self.reached for name in sorted(SITUATIONS)}

    @property
    def never_fired(self) -> list[str]:
        """List the faults that were allowed and did not happen."""
        allowed = [fault for fault in FAULTS if self.fixed.get(NEEDS.get(fault, ""), 1)]
        return [fault for fault in allowed if not self.faults[fault]]

    @property
    def trace_hash(self) -> str:
        """The digest of the digests of all schedules, in their order."""
        return str(self.digest.hexdigest())


class Watch:
    """Counts the faults of a schedule, and notes the situations it is in."""

    def __init__(self, bounds: Bounds, done: Done, known: set[str]) -> None:
        self.done = done
        missing = SITUATIONS - known
        self.wanted = [one for one in rref_witnesses(bounds) if one.id in missing] if missing else []
        self.flying: list[MessageView] = []  # oldest first

    def note(self, action: act.Action, world: World, observation: Observation) -> None:
        """Count the fault that a step is, and look at where it led."""
        for fault, kinds in FAULTS.items():
            if isinstance(action, kinds):
                self.done.faults[fault] += 1
        now, known = set(observation.flying), set(self.flying)
        if isinstance(action, act.Deliver) and self._overtakes(now):
            self.done.faults["reordered"] += 1
        self.flying = [one for one in self.flying if one in now]
        self.flying += [one for one in observation.flying if one not in known]
        for witness in list(self.wanted):
            if any(case.holds(world) for case in witness.cases):
                self.done.reached.add(witness.id)
                self.wanted.remove(witness)

    def _overtakes(self, now: set[MessageView]) -> bool:
        """Say whether a message has arrived and an older one between the same two workers has not."""
        gone = [index for index, one in enumerate(self.flying) if one not in now]
        return any(
            _same_way(self.flying[index], older) for index in gone for older in self.flying[:index] if older in now
        )


def _same_way(one: MessageView, other: MessageView) -> bool:
    return (one.source, one.target) == (other.source, other.target)
