"""What the lockstep needs of a network of engines in which nothing happens unless the caller says so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.ids import SequenceNumber, WorkerId
from farref.impl.core.views import View, ViewNumber
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.autograd.seen import WorkerSeen
from farref.properties.twin.backends.autograd.tensors import Terms


class AutogradNetwork(Protocol):
    """Workers 0 to n-1, a context that worker 0 has opened, and every message between them.

    Each method is one step of one worker, together with all the work on gradients that follows from it.
    """

    @property
    def context(self) -> ContextId:
        """The context."""

    @property
    def ended(self) -> dict[PassId, PassEnded]:
        """The passes that have ended, each with how."""

    def look(self) -> Iterable[WorkerSeen]:
        """Look at each living worker that may have changed since the last look; at first, at all."""

    def in_flight(self) -> tuple[InFlight, ...]:
        """List every message under way, oldest first."""

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""

    def deliver_raising(self, message_id: int, pair: int) -> None:
        """Let a gradient arrive, at a pair whose backward rule then raises."""

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""

    def drop(self, message_id: int) -> None:
        """Lose a message."""

    def fail(self, message_id: int) -> None:
        """Tell the sender of a call that it will never arrive."""

    def retry(self, worker: WorkerId, peer: WorkerId, number: SequenceNumber) -> None:
        """Send an unanswered control message again."""

    def acquaint(self, worker: WorkerId) -> None:
        """Let a worker know the context although nobody called it: where calls are no steps, the model does."""

    def send_tensors(
        self, source: WorkerId, target: WorkerId, pair: int, terms: Terms, attached: bool, decoy: bool
    ) -> ForwardId:
        """Let a worker send tensors to another."""

    def begin_pass(self, worker: WorkerId, terms: Terms, seed: int, smart: bool) -> PassId:
        """Let a worker begin a pass."""

    def time_out(self, pass_id: PassId) -> None:
        """Let the time of a pass be up."""

    def release_context(self) -> None:
        """Let the creator release the context."""

    def crash(self, worker: WorkerId) -> None:
        """Let a worker do nothing any more."""

    def notice(self, worker: WorkerId, dead: WorkerId) -> None:
        """Let a worker hear that another is dead."""

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view (R37)."""

    def fence(self, worker: WorkerId, number: ViewNumber, reason: str) -> None:
        """Let a worker learn that it is excluded (R38)."""

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Break the link of two workers that live (R36)."""

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Connect two workers again (R3)."""
