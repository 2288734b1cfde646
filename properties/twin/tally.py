"""What a schedule did, and what a campaign has done so far."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from farref.model.checker.interface import Action
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import protocol_of
from farref.properties.twin.schedule import Schedule
from farref.properties.twin.twin import Disagreement

ASKED_FOR: Final = ("exclusions", "joins", "cuts")
"""The bounds that are not drawn: what they allow happens only to somebody who asks for it."""


@dataclass
class Done:
    """What one schedule did, and what it found."""

    schedule: Schedule
    steps: int = 0
    judged: int = 0  # how many of the steps were followed by an evaluation of what must always hold
    faults: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)
    drawn: Counter[str] = field(default_factory=Counter)  # what a backend that runs by itself has drawn
    disagreement: Disagreement | None = None
    digest: bytes = b""


@dataclass
class Tally:
    """What a campaign did, and what it found."""

    protocol: AnyProtocol
    seed: int
    fixed: dict[str, Any]
    schedules: int = 0
    steps: int = 0
    judged: int = 0  # how many of the steps were followed by an evaluation of what must always hold
    faults: Counter[str] = field(default_factory=Counter)
    reached: set[str] = field(default_factory=set)
    drawn: Counter[str] = field(default_factory=Counter)
    draws: tuple[str, ...] = ()  # what the backend has to draw, if it runs by itself
    disagreement: Disagreement | None = None
    schedule: Schedule | None = None  # the one with the disagreement
    seconds: float = 0.0
    workers: int = 1  # how many take schedules at the same time, at last
    stopped: str | None = None  # why it ended before its time, if it did
    overtime: bool = False  # it went on after its time, as something allowed had not happened yet
    cannot: frozenset[str] = frozenset()  # the faults that the backend never has
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, done: Done) -> None:
        """Count one more schedule."""
        self.schedules += 1
        self.steps += done.steps
        self.judged += done.judged
        self.faults += done.faults
        self.reached |= done.reached
        self.drawn += done.drawn
        self.digest.update(done.digest)
        if done.disagreement is not None:
            self.disagreement, self.schedule = done.disagreement, done.schedule

    @property
    def sometimes(self) -> dict[str, bool]:
        """Say of each awkward situation whether it was reached."""
        return {name: name in self.reached for name in sorted(self.protocol.every_situation)}

    @property
    def told(self) -> list[str]:
        """List the faults that a report has: those that are drawn, and those that were asked for."""
        needed = {fault: self.protocol.needs.get(fault, "") for fault in self.protocol.faults}
        return [fault for fault, need in needed.items() if need not in ASKED_FOR or self.fixed.get(need)]

    @property
    def never_fired(self) -> list[str]:
        """List the faults that were allowed and did not happen, and the situations that were to be drawn and were not."""
        needs = self.protocol.needs
        allowed = [fault for fault in self.told if self.fixed.get(needs.get(fault, ""), 1)]
        never = [fault for fault in allowed if not self.faults[fault] and fault not in self.cannot]
        return [*never, *(one for one in self.draws if not self.drawn[one])]

    @property
    def trace_hash(self) -> str:
        """The digest of the digests of all schedules, in their order."""
        return str(self.digest.hexdigest())


class Watch:
    """Counts the faults of a schedule, and notes the situations it is in."""

    def __init__(self, bounds: Any, done: Done, known: set[str]) -> None:
        self.done, self.protocol = done, protocol_of(bounds)
        missing = self.protocol.every_situation - known
        self.wanted = [one for one in self.protocol.situations(bounds) if one.id in missing] if missing else []
        self.faults = [(fault, kinds) for fault, kinds in self.protocol.faults.items() if kinds]
        self.flying: list[Any] = []  # oldest first

    def note(self, action: Action, world: Any, observation: Any) -> None:
        """Count the fault that a step is, and look at where it led."""
        for fault, kinds in self.faults:
            if isinstance(action, kinds):
                self.done.faults[fault] += 1
        now, known = set(observation.flying), set(self.flying)
        if now != known:
            if isinstance(action, self.protocol.sorts["deliver"]) and self._overtakes(now):
                self.done.faults["reordered"] += 1
            self.flying = [one for one in self.flying if one in now]
            self.flying += [one for one in observation.flying if one not in known]
        for witness in list(self.wanted):
            if any(case.holds(world) for case in witness.cases):
                self.done.reached.add(witness.id)
                self.wanted.remove(witness)

    def _overtakes(self, now: set[Any]) -> bool:
        """Say whether a message has arrived and an older one between the same two workers has not."""
        gone = [index for index, one in enumerate(self.flying) if one not in now]
        return any(
            _same_way(self.flying[index], older) for index in gone for older in self.flying[:index] if older in now
        )


def _same_way(one: Any, other: Any) -> bool:
    return (one.source, one.target) == (other.source, other.target)
