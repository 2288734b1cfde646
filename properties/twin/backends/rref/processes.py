"""The implementation as it is, between real processes, held still between two steps (`lockstep.py`).

The processes are started once and begin a new life with each run. The driver knows what is under way from what each worker
says it has sent. The message itself is on its way through a real stream all the while, and waits in the process of its
receiver until it is let in.
"""

from __future__ import annotations

from collections.abc import Collection

from farref.impl.core.effects import Effect, Send
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
from farref.impl.core.messages import CallFailed, Control, Excluded
from farref.impl.core.views import View, ViewSettled
from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds
from farref.properties.rref.observation import Observation
from farref.properties.twin.backends.driven import DrivenProcesses
from farref.properties.twin.backends.pool import Pool, Prepare
from farref.properties.twin.backends.rref.driven_application import DrivenApplication
from farref.properties.twin.backends.rref.lockstep import Lockstep
from farref.properties.twin.backends.rref.network import Seen
from farref.properties.twin.backends.rref.views import AUTHORITY, Authority
from farref.properties.twin.backends.severed_network import SeveredNetwork


class ProcessesBackend(DrivenProcesses[Bounds, Action, Observation, DrivenApplication]):
    """Real workers; every delivery is chosen by the caller."""

    protocol = "rref"
    excludes = severs = True
    """Whether workers can be excluded here (R35), and links be broken (R36)."""
    lockstep: Lockstep
    network: ProcessNetwork

    def __init__(self, *, restless: bool = False, prepare: Prepare | None = None) -> None:
        super().__init__(DrivenApplication, restless=restless, prepare=prepare)

    def _begin(self, bounds: Bounds) -> Lockstep:
        authority = Authority(bounds.workers) if bounds.exclusions else None
        self.network = ProcessNetwork(self._pool(bounds.workers), bounds.workers, authority)
        return Lockstep(self.network, bounds, restless=self.restless, authority=authority)


class ProcessNetwork(SeveredNetwork[DrivenApplication, Seen]):
    """The first workers of a pool, and every message about references between them."""

    def __init__(self, pool: Pool[DrivenApplication], workers: int, authority: Authority | None = None) -> None:
        super().__init__(pool, workers)
        self._tokens: dict[RRefId, int] = {}
        self._failing: list[tuple[WorkerId, WorkerId, CallId]] = []
        """Calls that will not run, each with who says so and who called, and has not heard it yet."""
        self.authority = authority
        for rank in self._ranks:
            self._ask(rank, DrivenApplication.begin_anew)
            if authority is not None:
                self._ask(rank, DrivenApplication.obey_the_schedule)

    def _hear(self, worker: WorkerId, effect: Effect) -> None:
        """Take in what a worker did. What it says to the authority is heard at once (`views.py`)."""
        match effect:
            case Send(_, Control(body=ViewSettled(number))) if self.authority is not None:
                self.authority.settled[worker] = number
            case Send(_, Excluded()):
                pass
            case Send(target, CallFailed(call, ())) if call is not None and self.authority is not None:
                if worker not in self.authority.lost_to(target):
                    self._failing.append((worker, target, call))
                    self._await_failures()
            case Send(target) if target == AUTHORITY:
                pass
            case _:
                super()._hear(worker, effect)

    def _await_failures(self) -> None:
        """Wait until whoever called has heard that its call will not run; over a broken link nobody hears that."""
        heard = [one for one in self._failing if not self.is_silent(*one[:2])]
        self._failing = [one for one in self._failing if one not in heard]
        for _, target, call in heard:
            self._ask(target, DrivenApplication.await_failure, call)

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """End a stream that is broken, and wait for all that was to come over it."""
        super().mend(one, other)
        self._await_failures()

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view. What it had said to those excluded in it, and would say again, is gone (R37)."""
        self._repair(worker)
        lost, waiting = {who for who, _ in view.excluded}, {*self.unanswered(worker)}
        for flight in self.in_flight():
            match flight.message:
                case Control(number=number) if flight.source == worker and flight.target in lost:
                    if (flight.target, number) in waiting:
                        self.drop(flight.id)
                case _:
                    pass
        self._ask(worker, DrivenApplication.install, view)

    def bury(self, worker: WorkerId, number: int) -> None:
        """Tell a worker that a view is buried."""
        self._ask(worker, DrivenApplication.bury, number)

    def unanswered(self, worker: WorkerId) -> Collection[tuple[WorkerId, SequenceNumber]]:
        """List what a worker could retry."""
        return [(one.peer, one.number) for one in self._seen[worker].tables.unanswered]

    def refuse(self, message_id: int) -> None:
        """Let a message arrive at a receiver that cannot read it."""
        self._let_come(message_id)
        flight = self._flying.pop(message_id)
        self._ask(flight.target, DrivenApplication.refuse, flight.source, flight.message)  # type: ignore[arg-type]

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
        reference = self._ask(worker, DrivenApplication.create_remote, owner, token)
        self._tokens[reference.rref] = token
        return reference

    def create_local(self, worker: WorkerId) -> OwnedReference:
        """Let a worker wrap a value it has."""
        reference = self._ask(worker, DrivenApplication.create_local)
        assert isinstance(reference, OwnedReference)
        return reference

    def finish_function(self, worker: WorkerId, rref: RRefId) -> None:
        """Let the function end that computes a value."""
        self._ask(worker, DrivenApplication.finish_function, self._tokens[rref])

    def time_out_creation(self, worker: WorkerId, reference: UserReference) -> bool:
        """Let a creation take too long; say whether it was still pending."""
        return self._ask(worker, DrivenApplication.time_out_creation, reference)

    def share_as_argument(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> CallId:
        """Let a worker pass a reference to a function on another."""
        return self._ask(worker, DrivenApplication.share, target, reference)

    def share_in_result(self, worker: WorkerId, target: WorkerId, reference: Reference, /) -> None:
        """Let a worker return a reference to a caller, which first has to call. Whoever has excluded it does not.

        So a link that is broken is whole for that long.
        """
        if self.authority is not None and worker in self.authority.lost_to(target):
            self._ask(worker, DrivenApplication.return_unasked, target, reference)
            return
        is_silent = self.is_silent(worker, target)
        self.mend(worker, target)
        self._ask(worker, DrivenApplication.prepare_return, reference)
        self._ask(target, DrivenApplication.call_for_prepared, worker)
        self._ask(worker, DrivenApplication.await_call_for_prepared)
        if is_silent:
            self.cut(worker, target)

    def let_go(self, worker: WorkerId, reference: Reference) -> None:
        """Let a worker drop one handle."""
        self._ask(worker, DrivenApplication.let_go, reference)

    def fetch(self, worker: WorkerId, reference: UserReference) -> FetchId:
        """Let a user ask for the value."""
        return self._ask(worker, DrivenApplication.fetch, reference)

    def abandon_fetch(self, worker: WorkerId, reference: UserReference, fetch: FetchId) -> None:
        """Let a user give up on a fetch."""
        self._ask(worker, DrivenApplication.abandon_fetch, reference, fetch)

    def await_value(self, worker: WorkerId, reference: OwnedReference) -> WaiterId:
        """Let code on the owner wait for its value."""
        return self._ask(worker, DrivenApplication.await_value, reference)

    def shut_down(self) -> None:
        """Let no application begin anything new."""
        for rank in self._ranks:
            self._ask(rank, DrivenApplication.shut_down)
