"""The implementation as it is, between real processes, held still between two steps (`lockstep.py`).

The processes are started once and begin a new life with each run. The driver knows what is under way from what each worker
says it has sent. The message itself is on its way through a real stream all the while, and waits in the process of its
receiver until it is let in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import count
from typing import Concatenate, Final, ParamSpec, TypeVar

from farref.impl.effects import Effect, Send
from farref.impl.ids import (
    CallId,
    FetchId,
    OwnedReference,
    Reference,
    RRefId,
    SequenceNumber,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.simulated import InFlight
from farref.model.actions import Action
from farref.model.world import Bounds
from farref.properties.backends.desk import Desk
from farref.properties.backends.lockstep import Lockstep
from farref.properties.backends.network import Seen
from farref.properties.backends.pool import Pool, Prepare, WorkerCrashed
from farref.properties.observation import Observation

POOL_SIZE: Final = 4

Asked = ParamSpec("Asked")
Given = TypeVar("Given")


class ProcessesBackend:
    """Real workers; every delivery is chosen by the caller."""

    name = "processes"

    def __init__(self, *, restless: bool = False, prepare: Prepare | None = None) -> None:
        self.restless, self.prepare = restless, prepare
        self.pool: Pool | None = None

    def start(self, bounds: Bounds) -> None:
        """Let the workers begin a new life; start new ones if there are too few, or if one of them is in no state to."""
        try:
            self.network = ProcessNetwork(self._pool(bounds.workers), bounds.workers)
        except WorkerCrashed:
            self.close()
            self.network = ProcessNetwork(self._pool(bounds.workers), bounds.workers)
        self.lockstep = Lockstep(self.network, bounds, restless=self.restless)

    def perform(self, action: Action) -> None:
        """Take a step."""
        self.lockstep.perform(action)

    def attempt(self, action: Action) -> bool:
        """Let the application try to begin something."""
        return self.lockstep.attempt(action)

    def observe(self) -> Observation:
        """Look at every worker and at the network."""
        return self.lockstep.observe()

    def close(self) -> None:
        """Let the processes end."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def _pool(self, workers: int) -> Pool:
        if self.pool is not None and self.pool.size < workers:
            self.close()
        if self.pool is None:
            self.pool = Pool(max(POOL_SIZE, workers), self.prepare)
        return self.pool


class ProcessNetwork:
    """The first workers of a pool, and every message between them."""

    def __init__(self, pool: Pool, workers: int) -> None:
        self.pool = pool
        self.log: list[tuple[WorkerId, Effect]] = []
        self._flying: dict[int, InFlight] = {}
        self._numbers = count(1)
        self._tokens: dict[RRefId, int] = {}
        self._seen: dict[WorkerId, Seen] = {}
        self._changed: set[WorkerId] = set()
        self._ranks = [WorkerId(rank) for rank in range(workers)]
        for rank in self._ranks:
            self._ask(rank, Desk.begin_anew)

    def _ask(
        self,
        worker: WorkerId,
        step: Callable[Concatenate[Desk, Asked], Given],
        *args: Asked.args,
        **kwargs: Asked.kwargs,
    ) -> Given:
        """Let a worker take a step, and take in all that it has done since it was last asked."""
        given, answer = self.pool.ask(worker, step, *args, **kwargs)
        assert answer.seen is not None, "only a crash comes without it, and was raised"
        self._seen[worker] = answer.seen
        self._changed.add(worker)
        for effect in answer.effects:
            self.log.append((worker, effect))
            if isinstance(effect, Send):
                number = next(self._numbers)
                self._flying[number] = InFlight(number, worker, effect.target, effect.message)
        if answer.error is not None:
            raise answer.error
        return given

    # What can be seen

    def look(self) -> Iterator[Seen]:
        """Look at the workers that have taken a step since the last look."""
        while self._changed:
            yield self._seen[self._changed.pop()]

    def in_flight(self) -> tuple[InFlight, ...]:
        """List every message under way, oldest first."""
        return tuple(self._flying.values())

    def unanswered(self, worker: WorkerId) -> Collection[tuple[WorkerId, SequenceNumber]]:
        """List what a worker could retry."""
        return [(one.peer, one.number) for one in self._seen[worker].tables.unanswered]

    # The network

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""
        flight = self._flying.pop(message_id)
        self._ask(flight.target, Desk.deliver, flight.source, flight.message)

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""
        flight = self._flying[message_id]
        self._ask(flight.target, Desk.duplicate, flight.source, flight.message)

    def drop(self, message_id: int) -> None:
        """Lose a message."""
        flight = self._flying.pop(message_id)
        self._ask(flight.target, Desk.lose, flight.source, flight.message)

    def fail(self, message_id: int) -> None:
        """Tell the sender of a user call that it will never arrive."""
        flight = self._flying[message_id]
        self.drop(message_id)
        self._ask(flight.source, Desk.fail, flight.target, flight.message)

    def refuse(self, message_id: int) -> None:
        """Let a message arrive at a receiver that cannot read it."""
        flight = self._flying.pop(message_id)
        self._ask(flight.target, Desk.refuse, flight.source, flight.message)  # type: ignore[arg-type]

    def retry(self, worker: WorkerId, peer: WorkerId, number: SequenceNumber) -> None:
        """Send an unanswered control message again."""
        self._ask(worker, Desk.retry, peer, number)

    # The application

    def create_remote(self, worker: WorkerId, owner: WorkerId) -> UserReference:
        """Let a worker call `remote()` on another."""
        reference = self._create(worker, owner)
        assert isinstance(reference, UserReference)
        return reference

    def create_on_self(self, worker: WorkerId) -> OwnedReference:
        """Let a worker call `remote()` on itself."""
        reference = self._create(worker, worker)
        assert isinstance(reference, OwnedReference)
        return reference

    def _create(self, worker: WorkerId, owner: WorkerId) -> Reference:
        token = len(self._tokens)
        reference = self._ask(worker, Desk.create_remote, owner, token)
        self._tokens[reference.rref] = token
        return reference

    def create_local(self, worker: WorkerId) -> OwnedReference:
        """Let a worker wrap a value it has."""
        reference = self._ask(worker, Desk.create_local)
        assert isinstance(reference, OwnedReference)
        return reference

    def finish_function(self, worker: WorkerId, rref: RRefId) -> None:
        """Let the function end that computes a value."""
        self._ask(worker, Desk.finish_function, self._tokens[rref])

    def time_out_creation(self, worker: WorkerId, reference: UserReference) -> bool:
        """Let a creation take too long; say whether it was still pending."""
        return self._ask(worker, Desk.time_out_creation, reference)

    def share_as_argument(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> CallId:
        """Let a worker pass a reference to a function on another."""
        return self._ask(worker, Desk.share, target, reference)

    def share_in_result(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> None:
        """Let a worker return a reference to a caller, which first has to call."""
        self._ask(worker, Desk.offer, reference)
        self._ask(target, Desk.ask_for_gift, worker)
        self._ask(worker, Desk.await_taking)

    def let_go(self, worker: WorkerId, reference: Reference) -> None:
        """Let a worker drop one handle."""
        self._ask(worker, Desk.let_go, reference)

    def fetch(self, worker: WorkerId, reference: UserReference) -> FetchId:
        """Let a user ask for the value."""
        return self._ask(worker, Desk.fetch, reference)

    def abandon_fetch(self, worker: WorkerId, reference: UserReference, fetch: FetchId) -> None:
        """Let a user give up on a fetch."""
        self._ask(worker, Desk.abandon_fetch, reference, fetch)

    def await_value(self, worker: WorkerId, reference: OwnedReference) -> WaiterId:
        """Let code on the owner wait for its value."""
        return self._ask(worker, Desk.await_value, reference)

    def shut_down(self) -> None:
        """Let no application begin anything new."""
        for rank in self._ranks:
            self._ask(rank, Desk.shut_down)
