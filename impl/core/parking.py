"""Calls that wait until the owner counts every fork among their arguments (R16). No thread is held for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from farref.impl.core.effects import RunCall, RunCreation
from farref.impl.core.here import Here
from farref.impl.core.ids import ForkId, UserReference
from farref.impl.core.user import Record


@dataclass(slots=True)
class Parked:
    """One call that waits, and the forks it waits for."""

    run: RunCall | RunCreation
    waiting_for: set[ForkId]


def weight(run: RunCall | RunCreation) -> int:
    """Say how many bytes a call came with: its body, and what lay behind it."""
    body = run.call.body if type(run) is RunCall else run.creation.body
    behind: int = getattr(run.content, "size", 0)
    return len(body) + behind


class Parking:
    """All parked calls of one worker, found by any fork that they wait for."""

    def __init__(self, here: Here, records: Mapping[ForkId, Record]) -> None:
        self._emit, self._loads = here.emit, here.loads
        self._records = records
        self.waited_for: dict[ForkId, Parked] = {}
        """By fork: the call that waits for it. A fork arrives once, so it keeps one call at most."""

    def start(self, run: RunCall | RunCreation) -> None:
        """Start a function, or park it until every fork among its arguments is confirmed."""
        held = [one.fork for one in run.references if type(one) is UserReference]
        parked = Parked(run, {fork for fork in held if not self._records[fork].confirmed})
        if parked.waiting_for:
            self.waited_for.update(dict.fromkeys(parked.waiting_for, parked))
            self._loads[run.source].add(weight(run))
        else:
            self._emit(run)

    def confirm(self, fork: ForkId) -> None:
        """Cross a fork off that a call waits for, and start the call if it was the last one."""
        parked = self.waited_for.pop(fork)
        parked.waiting_for.discard(fork)
        if not parked.waiting_for:
            self._loads[parked.run.source].end(weight(parked.run))
            self._emit(parked.run)

    def give_up(self, fork: ForkId) -> RunCall | RunCreation | None:
        """Hand out a call that must not run, because it was given this fork, whose owner is dead (R34)."""
        for parked in self.all():  # it may be one that the owner had confirmed, while the call waits for another
            if any(type(one) is UserReference and one.fork == fork for one in parked.run.references):
                for waited in parked.waiting_for:
                    del self.waited_for[waited]
                self._loads[parked.run.source].end(weight(parked.run))
                return parked.run
        return None

    def all(self) -> list[Parked]:
        """List every parked call once."""
        return list({id(parked): parked for parked in self.waited_for.values()}.values())
