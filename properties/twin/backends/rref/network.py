"""What the lockstep needs of a network of implementations in which nothing happens unless the caller says so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from farref.impl.core.effects import Effect
from farref.impl.core.ids import (
    CallId,
    FetchId,
    ForkId,
    OwnedReference,
    Reference,
    RRefId,
    SequenceNumber,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.observe import WorkerTables
from farref.impl.simulated.network import InFlight


@dataclass(frozen=True, slots=True)
class Seen:
    """All that one worker has inside."""

    tables: WorkerTables
    parents: Collection[ForkId]  # the forks it knows as children of its own
    closing: bool


class Network(Protocol):
    """Workers 0 to n-1 and every message between them. Each method is one step of one worker."""

    @property
    def log(self) -> list[tuple[WorkerId, Effect]]:
        """Every effect in the order it came, with the worker it happened on. Whoever has read it clears it."""

    def look(self) -> Iterable[Seen]:
        """Look at each worker that may have changed since the last look; at first, at all."""

    def in_flight(self) -> tuple[InFlight, ...]:
        """List every message under way, oldest first."""

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""

    def drop(self, message_id: int) -> None:
        """Lose a message."""

    def fail(self, message_id: int) -> None:
        """Tell the sender of a user call that it will never arrive."""

    def refuse(self, message_id: int) -> None:
        """Let a message arrive at a receiver that cannot read it."""

    def retry(self, worker: WorkerId, peer: WorkerId, number: SequenceNumber) -> None:
        """Send an unanswered control message again."""

    def unanswered(self, worker: WorkerId) -> Collection[tuple[WorkerId, SequenceNumber]]:
        """List what a worker could retry."""

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Let nothing arrive that two workers send each other."""

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Let it arrive after all."""

    def create_remote(self, worker: WorkerId, owner: WorkerId) -> UserReference:
        """Let a worker call `remote()` on another."""

    def create_on_self(self, worker: WorkerId) -> OwnedReference:
        """Let a worker call `remote()` on itself."""

    def create_local(self, worker: WorkerId) -> OwnedReference:
        """Let a worker wrap a value it has."""

    def finish_function(self, worker: WorkerId, rref: RRefId) -> None:
        """Let the function end that computes a value."""

    def time_out_creation(self, worker: WorkerId, reference: UserReference) -> bool:
        """Let a creation take too long; say whether it was still pending."""

    def share_as_argument(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> CallId:
        """Let a worker pass a reference to a function on another; the call is the last message under way."""

    def share_in_result(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> None:
        """Let a worker return a reference to a caller; the result is the last message under way."""

    def let_go(self, worker: WorkerId, reference: Reference) -> None:
        """Let a worker drop one handle."""

    def fetch(self, worker: WorkerId, reference: UserReference) -> FetchId:
        """Let a user ask for the value."""

    def abandon_fetch(self, worker: WorkerId, reference: UserReference, fetch: FetchId) -> None:
        """Let a user give up on a fetch."""

    def await_value(self, worker: WorkerId, reference: OwnedReference) -> WaiterId:
        """Let code on the owner wait for its value."""

    def shut_down(self) -> None:
        """Let no application begin anything new."""
