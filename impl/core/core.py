"""One worker of both protocols, without clock, sockets or threads: messages and operations in, effects out.

The core owns every table of its worker: entries (`owner`), records (`user`), numbered control messages (`channel`), parked
calls (`parking`) and autograd contexts (`engine`). A method is one step of the protocol. It changes the tables completely,
then returns what is to be done, in order. A step is never half done, so R11 and the "in one step" of R19 and R26 need no care
beyond a lock around each call of a method here.

Around it there is always a shell: real processes, or the simulated network. The shell writes and reads the bodies of
messages. Before it writes a reference into one, it asks `share` for a fork (R2). If the message then cannot be written, it
gives the forks back with `withdraw` (R28). Time is told to the core by `tick`; how often is the shell's choice.
"""

from __future__ import annotations

from typing import Any, assert_never

from farref.impl.core.arrivals import Arrivals
from farref.impl.core.autograd.effects import Work
from farref.impl.core.autograd.graph import Node
from farref.impl.core.autograd.ids import ContextId, PassId
from farref.impl.core.autograd.task import Progress
from farref.impl.core.effects import AnswerFetch, Effect, Outcome, Send
from farref.impl.core.ids import (
    CallId,
    FetchId,
    ForkData,
    ForkId,
    OwnedReference,
    Reference,
    RRefId,
    SequenceNumber,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.messages import WRAPPED, Call, FetchReturn, ForwardCall, RemoteCall, Return
from farref.impl.errors import NotRunning


class Core(Arrivals):
    """One worker: what the application does, on top of what messages do."""

    # Creation

    def create_remote(
        self, owner: WorkerId, function: str = "", forks: tuple[ForkData, ...] = (), body: bytes = b""
    ) -> tuple[UserReference, list[Effect]]:
        """Begin `remote()` on another worker: a handle at once, pending (R10)."""
        self._open()
        rref = RRefId(self.me, self.incarnation, self._mint())
        fork = ForkId(self.me, self.incarnation, rref.number)
        reference = self.user.create_remote(owner, rref, fork)
        self._send(owner, RemoteCall(rref, fork, function, forks, body))
        return reference, self._taken()

    def create_on_self(self) -> OwnedReference:
        """Begin `remote()` on this worker: the entry comes before the function (R12)."""
        self._open()
        rref = RRefId(self.me, self.incarnation, self._mint())
        self.owner.create_on_self(rref)
        return OwnedReference(rref)

    def create_local(self, outcome: Outcome) -> OwnedReference:
        """Make an RRef of a value that is here (R13)."""
        self._open()
        rref = RRefId(self.me, self.incarnation, self._mint())
        self.owner.create_local(rref, outcome)
        return OwnedReference(rref)

    def finish_function(self, rref: RRefId, outcome: Outcome) -> list[Effect]:
        """Report that the function which computes a value has ended (R23)."""
        self.owner.finish_function(rref, outcome)
        return self._taken()

    def time_out_creation(self, reference: UserReference) -> bool:
        """Report that a creation took too long; say whether it was still pending (R27)."""
        return self.user.time_out_creation(reference.fork)

    # Sharing

    def share(self, reference: Reference, target: WorkerId) -> ForkData:
        """Mint a fork for a reference that is about to be written into a message (R2, R14, R16)."""
        self._open()
        fork = ForkId(self.me, self.incarnation, self._mint())
        match reference:
            case OwnedReference(rref):
                self.owner.share(rref, fork, target)
                return ForkData(self.me, rref, fork, target, None)
            case UserReference(owner, rref, parent):
                self.user.share(parent, fork, target)
                return ForkData(owner, rref, fork, target, parent)
            case _:
                assert_never(reference)

    def withdraw(self, forks: tuple[ForkData, ...]) -> list[Effect]:
        """Take back forks whose message could not be written (R28)."""
        self._withdraw_all(forks)
        return self._taken()

    def call(
        self, target: WorkerId, function: str = "", forks: tuple[ForkData, ...] = (), body: bytes = b""
    ) -> tuple[CallId, list[Effect]]:
        """Call a function on a worker; its arguments carry the forks given."""
        self._calls += 1
        call = CallId(self._calls)
        self._send(target, Call(call, function, forks, body))
        return call, self._taken()

    def reply(
        self, target: WorkerId, call: CallId, failed: bool = False, forks: tuple[ForkData, ...] = (), body: bytes = b""
    ) -> list[Effect]:
        """Answer a call; its result carries the forks given."""
        self._send(target, Return(call, failed, forks, body))
        return self._taken()

    # Use

    def fetch(self, reference: UserReference) -> tuple[FetchId, list[Effect]]:
        """Ask the owner for the value (R20)."""
        self._open()
        fetch = self.user.fetch(reference.fork)
        return fetch, self._taken()

    def abandon_fetch(self, reference: UserReference, fetch: FetchId) -> None:
        """Give up on a fetch: its answer will be thrown away (R20, R27)."""
        self.user.abandon_fetch(reference.fork, fetch)

    def answer_fetch(
        self, answer: AnswerFetch, failed: bool, forks: tuple[ForkData, ...] = (), body: bytes = b""
    ) -> list[Effect]:
        """Send what was written for an `AnswerFetch` (R20)."""
        self._send(answer.target, FetchReturn(answer.rref, answer.fork, answer.fetch, failed, forks, body))
        return self._taken()

    def await_value(self, reference: OwnedReference, waiter: WaiterId) -> list[Effect]:
        """Let code on the owner wait for its value (R21)."""
        self.owner.await_value(reference.rref, waiter)
        return self._taken()

    def stop_waiting(self, reference: OwnedReference, waiter: WaiterId) -> list[Effect]:
        """Let code on the owner give up waiting."""
        self.owner.stop_waiting(reference.rref, waiter)
        return self._taken()

    def let_go(self, reference: Reference) -> list[Effect]:
        """Drop one handle (R22, R26)."""
        self._let_go(reference)
        return self._taken()

    def let_go_of_everything(self) -> list[Effect]:
        """Drop every handle there is, for a worker that leaves (R32)."""
        for rref, entry in list(self.owner.entries.items()):
            for _ in range(entry.held):
                self.owner.let_go(rref)
        for fork, record in list(self.user.records.items()):
            for _ in range(record.handles):
                self.user.let_go(fork)
        self.engine.release_everything()
        return self._taken()

    def is_confirmed(self, reference: Reference) -> bool:
        """Say whether the owner counts this reference and this worker knows it (R31)."""
        match reference:
            case OwnedReference():
                return True
            case UserReference(fork=fork):
                record = self.user.records.get(fork)
                return record is not None and record.confirmed
            case _:
                assert_never(reference)

    # Distributed autograd

    def wrapped(self, effects: list[Effect], context: ContextId, node: Node | None, function: str) -> list[Effect]:
        """Have the one call among some effects carry its context, and record the send of its pair (A4, A8)."""
        for position, effect in enumerate(effects):
            if isinstance(effect, Send) and isinstance(effect.message, WRAPPED):
                forward = self.engine.record_call(context, effect.target, function, node)
                tensors = len(node.edges) if node is not None else 0
                effects[position] = Send(effect.target, ForwardCall(context, forward, tensors, effect.message))
        return effects

    def open_context(self) -> ContextId:
        """Open an autograd context (A8)."""
        self._open()
        return self.engine.open_context()

    def release_context(self, context: ContextId) -> list[Effect]:
        """Release an autograd context, everywhere (A24)."""
        self.engine.release(context)
        return self._taken()

    def backward(
        self, context: ContextId, root: Node, seeds: Any, smart: bool, retain: bool
    ) -> tuple[PassId, list[Effect]]:
        """Begin a backward pass here (A10)."""
        pass_id = self.engine.begin(context, root, seeds, smart, retain)
        return pass_id, self._taken()

    def worked(self, work: Work, progress: Progress) -> list[Effect]:
        """Take in what came of a task's work (A13)."""
        self.engine.worked(work.task, work.body, progress)
        return self._taken()

    def raised(self, work: Work, error: bytes) -> list[Effect]:
        """Take in that a task's work raised an error (A18)."""
        self.engine.raised(work.task, work.body, error)
        return self._taken()

    def time_out_pass(self, pass_id: PassId) -> list[Effect]:
        """Let a pass fail because its time is up, unless it is decided (A20)."""
        self.engine.time_out(pass_id)
        return self._taken()

    # Time, and the end

    def tick(self, now: float) -> list[Effect]:
        """Take the time in, and send again what has waited long enough (R6)."""
        self.now = now
        for peer, outgoing in self.channel.outgoing.items():
            for number in outgoing.due(now):
                self._send(peer, outgoing.retry(number, now))
        return self._taken()

    def retry(self, peer: WorkerId, number: SequenceNumber) -> list[Effect]:
        """Send one control message again, whether or not it is due (R6)."""
        self._send(peer, self.channel.to(peer).retry(number, self.now))
        return self._taken()

    def shut_down(self) -> None:
        """Let the application begin nothing new. All else goes on (R32)."""
        self.closing = True

    def is_empty(self) -> bool:
        """Say whether every table is empty (R32)."""
        waiting = next(self.channel.unanswered(), None)
        held = self.owner.entries or self.user.records or self.user.parents or waiting
        return not held and self.engine.is_empty()

    def _open(self) -> None:
        if self.closing:
            raise NotRunning(f"worker {self.me} is shutting down: no new creation, share or fetch (R32)")
