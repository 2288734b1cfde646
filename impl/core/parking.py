"""Calls that wait until the owner counts every fork among their arguments (R16). No thread is held for them."""

from __future__ import annotations

from dataclasses import dataclass

from farref.impl.core.effects import RunCall, RunCreation
from farref.impl.core.ids import ForkId


@dataclass(slots=True)
class Parked:
    """One call that waits, and the forks it waits for."""

    run: RunCall | RunCreation
    waiting_for: set[ForkId]


class Parking:
    """All parked calls of one worker, found by any fork that they wait for."""

    def __init__(self) -> None:
        self._by_fork: dict[ForkId, Parked] = {}

    def park(self, run: RunCall | RunCreation, waiting_for: set[ForkId]) -> None:
        """Keep a call until all these forks are confirmed. A fork arrives once, so it keeps one call at most."""
        parked = Parked(run, waiting_for)
        for fork in waiting_for:
            self._by_fork[fork] = parked

    def confirm(self, fork: ForkId) -> RunCall | RunCreation | None:
        """Cross a fork off, and hand out the call if it was the last one."""
        parked = self._by_fork.pop(fork, None)
        if parked is None:
            return None
        parked.waiting_for.discard(fork)
        return None if parked.waiting_for else parked.run

    def give_up(self, fork: ForkId) -> RunCall | RunCreation | None:
        """Hand out a call that can never run, because this fork cannot be confirmed any more (R34)."""
        parked = self._by_fork.get(fork)
        if parked is None:
            return None
        for waited in parked.waiting_for:
            del self._by_fork[waited]
        return parked.run

    def all(self) -> list[Parked]:
        """List every parked call once."""
        return list({id(parked): parked for parked in self._by_fork.values()}.values())
