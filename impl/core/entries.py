"""What an owner keeps for one RRef (R8). Everything that changes it is in `owner`.

Where the spec has flags there are counts: several handles, several waiting threads. `forks` also says whose each fork is: to
release what the lost held (R41), to refuse forged deletes (R34), and for people who look for a leak.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from farref.impl.core.effects import Outcome
from farref.impl.core.ids import FetchId, ForkId, WaiterId, WorkerId
from farref.impl.core.slim import EMPTY_LIST, Forks


class Phase(Enum):
    """How far an entry has come (R8). GONE is the same as ABSENT."""

    ABSENT = "absent"
    EXPECTED = "expected"
    CREATED = "created"
    READY = "ready"


@dataclass(slots=True)
class Entry:
    """What an owner keeps for one RRef (R8)."""

    phase: Phase = Phase.ABSENT
    outcome: Outcome | None = None
    forks: Forks = field(default_factory=Forks)
    fetches: list[tuple[WorkerId, ForkId, FetchId]] = EMPTY_LIST
    running: bool = False
    held: int = 0
    waiting: list[WaiterId] = EMPTY_LIST

    def is_named(self) -> bool:
        """Say whether anybody, here or elsewhere, still refers to the value (R22)."""
        return bool(self.forks or self.running or self.held or self.waiting)
