"""What a root knows of its pass: which messages are under way, who waits for what, who takes part (A10, A14).

A counted message has two halves: somebody caused it, and its receiver processed it. Reports come in any order, so either half
may be heard of first. What has both is struck out. If nothing is left, nothing of the pass is under way.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct, field

from farref.impl.core.autograd.ids import ForwardId, PassId
from farref.impl.core.autograd.messages import Counted, Kind, Report, Waits
from farref.impl.core.ids import WorkerId


class Phase(Enum):
    """How far a pass has come. One that has not begun, or has ended, is not kept: OVER."""

    RUNNING = "running"
    MARKING = "marking"
    RESUMED = "resumed"
    COMMITTING = "committing"
    OVER = "over"


class Unreached(Struct, frozen=True, order=True):
    """A send that no gradient came for: where it is, and the function it was a call of (A15)."""

    worker: WorkerId
    forward: ForwardId
    function: str


class Pass(Struct):
    """What a root keeps for a pass that has not ended."""

    pass_id: PassId
    engaged: dict[WorkerId, None]
    phase: Phase = Phase.RUNNING
    under_way: set[Counted] = field(default_factory=set)
    early: set[Counted] = field(default_factory=set)
    """Processed, and nobody is known to have caused them."""
    expected: dict[WorkerId, tuple[Waits, ...]] = field(default_factory=dict)
    arrived: set[ForwardId] = field(default_factory=set)
    uncommitted: set[WorkerId] = field(default_factory=set)

    def cause(self, messages: Iterable[Counted]) -> None:
        """Enter messages that were sent."""
        for message in messages:
            if message in self.early:
                self.early.remove(message)
            else:
                self.under_way.add(message)

    def enter(self, source: WorkerId, report: Report) -> None:
        """Enter what a worker reports (A14)."""
        self.engaged[source], processed = None, report.processed
        if processed in self.under_way:
            self.under_way.remove(processed)
        else:
            self.early.add(processed)
        if processed.kind is Kind.GRADIENTS and processed.forward is not None:
            self.arrived.add(processed.forward)
        if report.waits is not None:
            self.expected[source] = report.waits
        self.cause(report.caused)

    def is_at_standstill(self) -> bool:
        """Say whether nothing of the pass is under way (A14)."""
        return not self.under_way and not self.early

    def missing(self) -> tuple[Unreached, ...]:
        """List the sends that are waited for and have no gradient."""
        return tuple(
            Unreached(worker, one.forward, one.function)
            for worker, waits in self.expected.items()
            for one in waits
            if one.forward not in self.arrived
        )

    def late(self) -> tuple[WorkerId, ...]:
        """List the workers that have not processed a message sent to them (A18)."""
        return tuple(sorted({message.worker for message in self.under_way}))
