"""Several workers in one process, over a network in which nothing happens unless the caller says so.

Every message in flight is listed with a stable id. It is delivered, delivered and kept (a duplicate), dropped or failed by
one call each; a retry is a call too. So a schedule is the list of calls made, and the same list gives the same run.

What R3 allows, the simulation allows, and no more: control messages may be dropped and duplicated, user calls may fail, and
nothing else. Asking for more is a `ValueError`.

Who takes part is decided by an authority that one worker hosts (R35). Its views are messages as all others are. An excluded
worker goes on, unless it has ended: then what it had sent is still under way. A link may break: what is on it waits.

Functions do not run here: a call that would start is a `RunCall` in `log`, and holds its references until the caller lets
them go. A creation's function ends when the caller says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from farref.impl.core.authority import Authority
from farref.impl.core.core import Core
from farref.impl.core.effects import AnswerFetch, CompleteFetch, Effect, Failure, Outcome, Send, Value
from farref.impl.core.ids import (
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
from farref.impl.core.messages import Ack, AnyMessage, Carrier, Control, Excluded, UserCall
from farref.impl.core.observe import WorkerTables, observe


class InFlight(Struct, frozen=True):
    """One message under way. Its id is never given to another."""

    id: int
    source: WorkerId
    target: WorkerId
    message: AnyMessage


class Simulation:
    """Workers 0 to n-1 and every message between them."""

    def __init__(self, workers: int, host: int = 0) -> None:
        ranks = [WorkerId(rank) for rank in range(workers)]
        self.cores = {rank: Core(rank, ranks) for rank in ranks}
        self.host = WorkerId(host)
        """The worker that hosts the authority."""
        for core in self.cores.values():
            core.members.authority = self.host
        if self.host in self.cores:  # a network of nobody has no authority
            self.cores[self.host].members.host(Authority(workers))
        self.by_views = False
        """Whether it has issued a view. If not, workers are dead as soon as they are killed (R34)."""
        self.broken: set[frozenset[WorkerId]] = set()
        """The links that are broken."""
        self.log: list[tuple[WorkerId, Effect]] = []
        """Every effect in the order it came, with the worker it happened on."""
        self._in_flight: dict[int, InFlight] = {}
        self._sent = 0
        self._waiters = 0

    # The network

    def in_flight(self) -> tuple[InFlight, ...]:
        """List every message under way, oldest first."""
        return tuple(self._in_flight.values())

    def take(self, message_id: int) -> InFlight:
        """Take a message out of the network, whatever becomes of it."""
        return self._in_flight.pop(message_id)

    def deliverable(self) -> tuple[InFlight, ...]:
        """List every message that can arrive now, oldest first."""
        return tuple(one for one in self.in_flight() if self.is_linked(one.source, one.target))

    def is_linked(self, source: WorkerId, target: WorkerId) -> bool:
        """Say whether a message can arrive now. Nobody connects to a worker that has not joined as far as it knows (R44)."""
        is_broken = self.broken and frozenset((source, target)) in self.broken
        return not is_broken and source in self.cores[target].here.workers

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""
        flight = self._in_flight[message_id]
        if not self.is_linked(flight.source, flight.target):
            raise ValueError("the link is broken, or not made yet: what is on it waits (R36)")
        self.arrive(self.take(message_id))

    def duplicate(self, message_id: int) -> None:
        """Let a control message, or an answer to one, arrive, and keep a copy under way (R3)."""
        self.arrive(self._control(message_id))

    def drop(self, message_id: int) -> None:
        """Lose a control message, or an answer to one (R3)."""
        del self._in_flight[self._control(message_id).id]

    def fail(self, message_id: int) -> None:
        """Report to its sender that a user call will never arrive (R3)."""
        flight = self._in_flight[message_id]
        if isinstance(flight.message, Control | Ack | Excluded):
            raise ValueError("control messages are dropped, not failed (R3)")
        self.take(message_id)
        message: UserCall = flight.message
        if flight.source in self.cores:
            self.perform(flight.source, self.cores[flight.source].carrier_failed(flight.target, message, "it failed"))

    def refuse(self, message_id: int) -> None:
        """Let a message that carries forks arrive and be refused, because its receiver cannot read it (R28)."""
        flight = self._in_flight[message_id]
        if not isinstance(flight.message, Carrier):
            raise ValueError("only a message that carries forks has a body that its receiver may be unable to read")
        self.take(message_id)
        self.perform(flight.target, self.cores[flight.target].refuse(flight.source, flight.message, "not understood"))

    def retry(self, worker: WorkerId, peer: WorkerId, number: SequenceNumber) -> None:
        """Send one unanswered control message again (R6)."""
        self.perform(worker, self.cores[worker].retry(peer, number))

    def unanswered(self, worker: WorkerId) -> tuple[tuple[WorkerId, SequenceNumber], ...]:
        """List what a worker could retry: peer and number."""
        return tuple((peer, number) for peer, number, _, _ in self.cores[worker].channel.unanswered())

    def kill(self, worker: WorkerId, reason: str | None = None) -> None:
        """Let every other worker declare one dead; nothing more comes from it or reaches it (R34)."""
        del self.cores[worker]
        for flight in self.in_flight():
            if worker in (flight.source, flight.target):
                self.take(flight.id)
        for rank, core in self.cores.items():
            self.perform(rank, core.peer_died(worker, reason or f"worker {worker} was killed"))

    # Who takes part

    def exclude(self, *workers: WorkerId, reason: str = "it was lost") -> None:
        """Let the authority exclude some workers: a view for everybody else is under way (R35)."""
        self.by_views = True
        told = f"worker {', '.join(map(str, workers))} was excluded: {reason}"
        self.perform(self.host, self.cores[self.host].members.exclude(workers, told))

    def end(self, worker: WorkerId) -> None:
        """End a worker. Nobody is told; what it has sent is still under way, and what is sent to it is gone (R36)."""
        del self.cores[worker]
        for flight in self.in_flight():
            if flight.target == worker:
                self.take(flight.id)

    def join(self) -> WorkerId:
        """Let a worker join, or join anew, under the next id (R44)."""
        self.by_views = True
        newcomer, view, effects = self.cores[self.host].members.admit()
        core = Core(newcomer, map(WorkerId, range(view.workers)))
        core.members.authority = self.host
        self.cores[newcomer] = core
        self.perform(newcomer, core.members.install(view))
        self.perform(self.host, effects)
        return newcomer

    def suspect(self, worker: WorkerId, suspected: WorkerId) -> None:
        """Let a worker advise the authority (R36)."""
        self.perform(worker, self.cores[worker].members.suspect(suspected, "it does not answer"))

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Break the link of two workers that live. Neither is told, and nothing changes (R36)."""
        self.broken.add(frozenset((one, other)))

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Connect two workers again, in a new epoch: what was on its way arrives after all (R3)."""
        self.broken.discard(frozenset((one, other)))

    # The application

    def create_remote(self, worker: WorkerId, owner: WorkerId, sharing: Iterable[Reference] = ()) -> UserReference:
        """Let a worker call `remote()` on another, with references among the arguments."""
        core = self.cores[worker]
        forks = tuple(core.share(reference, owner) for reference in sharing)
        reference, effects = core.create_remote(owner, forks=forks)
        self.perform(worker, effects)
        return reference

    def create_on_self(self, worker: WorkerId) -> OwnedReference:
        """Let a worker call `remote()` on itself."""
        return self.cores[worker].create_on_self()

    def create_local(self, worker: WorkerId) -> OwnedReference:
        """Let a worker make an RRef of a value it has."""
        return self.cores[worker].create_local(Value(None))

    def share_as_argument(self, worker: WorkerId, target: WorkerId, *references: Reference) -> CallId:
        """Let a worker pass references to a function on another."""
        core = self.cores[worker]
        forks = tuple(core.share(reference, target) for reference in references)
        call, effects = core.call(target, forks=forks)
        self.perform(worker, effects)
        return call

    def share_in_result(self, worker: WorkerId, target: WorkerId, *references: Reference, call: int = 0) -> None:
        """Let a worker return references to a caller."""
        core = self.cores[worker]
        forks = tuple(core.share(reference, target) for reference in references)
        self.perform(worker, core.reply(target, CallId(call), forks=forks))

    def let_go(self, worker: WorkerId, reference: Reference) -> None:
        """Let a worker drop one handle."""
        self.perform(worker, self.cores[worker].let_go(reference))

    def fetch(self, worker: WorkerId, reference: UserReference) -> FetchId:
        """Let a user ask for the value."""
        fetch, effects = self.cores[worker].fetch(reference)
        self.perform(worker, effects)
        return fetch

    def abandon_fetch(self, worker: WorkerId, reference: UserReference, fetch: FetchId) -> None:
        """Let a user give up on a fetch."""
        self.cores[worker].user.abandon_fetch(reference.fork, fetch)

    def await_value(self, worker: WorkerId, reference: OwnedReference) -> WaiterId:
        """Let code on the owner wait for its value."""
        self._waiters += 1
        waiter = WaiterId(self._waiters)
        self.perform(worker, self.cores[worker].await_value(reference, waiter))
        return waiter

    def time_out_creation(self, worker: WorkerId, reference: UserReference) -> bool:
        """Let a creation take too long."""
        return self.cores[worker].user.time_out_creation(reference.fork)

    def finish_function(self, worker: WorkerId, rref: RRefId, failed: bool = False) -> None:
        """Let the function that computes a value end, with a value or with an error."""
        outcome: Outcome = Failure(None) if failed else Value(None)
        self.perform(worker, self.cores[worker].finish_function(rref, outcome))

    def shut_down(self) -> None:
        """Let no application begin anything new (R32)."""
        for core in self.cores.values():
            core.shut_down()

    # What can be seen

    def observe(self) -> dict[WorkerId, WorkerTables]:
        """Look at every table of every worker."""
        return {rank: observe(core) for rank, core in self.cores.items()}

    def handles(self, worker: WorkerId) -> list[Reference]:
        """List the references that the application of a worker holds, parked ones left out, each as often as it is held."""
        core = self.cores[worker]
        parked = Counter(reference for call in core.parking.all() for reference in call.run.references)
        held: Counter[Reference] = Counter()
        for rref, entry in core.owner.entries.items():
            held[OwnedReference(rref)] = entry.held
        for fork, record in core.user.records.items():
            held[UserReference(record.owner, record.rref, fork)] = record.handles
        return list((held - parked).elements())

    # Beneath: what a simulation of more may do otherwise

    def arrive(self, flight: InFlight) -> None:
        """Let a message arrive that was taken out of the network, or is to be there twice."""
        self.perform(flight.target, self.cores[flight.target].receive(flight.source, flight.message))

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step of a worker asks for."""
        for effect in effects:
            self.log.append((worker, effect))
            match effect:
                case Send(target, message):
                    if target in self.cores:
                        self._sent += 1
                        self._in_flight[self._sent] = InFlight(self._sent, worker, target, message)
                case AnswerFetch(outcome=outcome):
                    failed = isinstance(outcome, Failure)
                    self.perform(worker, self.cores[worker].answer_fetch(effect, failed))
                case CompleteFetch(abandoned=True, references=references):
                    for reference in references:
                        self.let_go(worker, reference)
                case _:
                    pass

    def _control(self, message_id: int) -> InFlight:
        flight = self._in_flight[message_id]
        if not isinstance(flight.message, Control | Ack | Excluded):
            raise ValueError("user calls arrive once, or fail (R3)")
        return flight
