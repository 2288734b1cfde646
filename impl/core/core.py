"""One worker of both protocols, without clock, sockets or threads: messages and operations in, effects out.

It puts the parts of a worker together and says which part each message goes to: entries (`owner`), records (`user`), numbered
control messages (`channel`), calls and answers (`calls`), calls that wait (`parking`), autograd contexts (`engine`), who takes
part (`members`). A method is one step of the protocol. It changes the tables completely, then returns what is to be done, in
order. A step is never half done, so R11 and the "in one step" of R19 and R26 need no care beyond a lock around each of them.

Around it there is always a shell: real processes, or the simulated network. It writes and reads the bodies of messages, asks
for a fork before it writes a reference (R2), gives forks back that cannot be sent (R28), and tells the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from farref.impl.core.autograd.engine import Engine
from farref.impl.core.autograd.graph import Within
from farref.impl.core.calls import Calls, check_minted
from farref.impl.core.channel import Channel
from farref.impl.core.effects import AnswerFetch, Effect, Outcome, Send
from farref.impl.core.here import Here
from farref.impl.core.ids import (
    FIRST_LIFE,
    CallId,
    FetchId,
    ForkData,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    RRefId,
    SequenceNumber,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.members import Members
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Carrier,
    ChildAccept,
    Control,
    CreateFailed,
    Excluded,
    FetchCall,
    FetchReturn,
    ForkRequest,
    Forks,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
    UserCall,
    UserDelete,
    Wrapped,
)
from farref.impl.core.owner import Owner
from farref.impl.core.parking import Parking
from farref.impl.core.user import User
from farref.impl.errors import ContextReleased, refusal


class Core:
    """One worker: what messages do, and what its application does."""

    def __init__(self, me: WorkerId, workers: Iterable[WorkerId], incarnation: Incarnation = FIRST_LIFE) -> None:
        self.here = here = Here(me, workers, incarnation)
        self._effects, self._emit = here.effects, here.emit
        self.me, self.workers, self.incarnation, self.dead = me, here.workers, incarnation, here.dead
        self.called = 0  # how many calls have been made
        self.channel = Channel(here)
        self.owner = Owner(here, self.channel)
        self.user = User(here, self.channel)
        self.parking = Parking(here, self.user.records)
        self.calls = Calls(here, self.owner, self.user, self.parking)
        self.engine = Engine(here, self.channel, self.taken)
        self.members = Members(here, self.channel, self.owner, self.user, self.calls, self.engine, self.taken)
        self.handlers: Mapping[type, Callable[[WorkerId, Any, object], None]] = {
            **dict.fromkeys((Call, Return, RemoteCall, FetchReturn), self.calls.arrive),
            CallFailed: self.calls.on_call_failed,
            FetchCall: self.owner.on_fetch_call,
            UserAccept: self._on_user_accept,
            ForwardCall: self._on_forward_call,
            Control: self._on_control,
            Ack: self._on_ack,
            Excluded: self.members.on_excluded,
        }
        self.control_handlers: Mapping[type, Callable[[WorkerId, Any], None]] = {
            UserDelete: self.owner.on_user_delete,
            ForkRequest: self.owner.on_fork_request,
            CreateFailed: self.owner.on_create_failed,
            ChildAccept: self.user.on_child_accept,
            **dict.fromkeys(self.engine.handlers, self.engine.take),
            **self.members.handlers,
        }

    def taken(self) -> list[Effect]:
        """End a step, and say what it has done."""
        effects = [*self._effects]
        self._effects.clear()
        return effects

    # What messages do

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Take one message in. `content` is its body, read; it comes back in the effect that uses it."""
        if source in self.dead:
            self.members.answer(source, message)
        else:
            self.handlers[type(message)](source, message, content)
        return self.taken()

    def _on_control(self, source: WorkerId, control: Control, _: object) -> None:
        """Let a control message take effect once; answer every copy (R7)."""
        if not (incoming := self.channel.from_(source)).is_refused(control):
            if incoming.take(control):
                self.control_handlers[type(control.body)](source, control.body)
            self._emit(Send(source, Ack(control.incarnation, control.number)))

    def _on_ack(self, source: WorkerId, ack: Ack, _: object) -> None:
        """Take an answer in; for two of the messages it confirms a fork (R5)."""
        body = self.channel.settle(source, ack)
        if type(body) is ForkRequest or type(body) is CreateFailed:
            self._confirm(body.fork)

    def _on_user_accept(self, source: WorkerId, message: UserAccept, _: object) -> None:
        if self.user.owner_of(message.fork) == source:
            self._confirm(message.fork)

    def _confirm(self, fork: ForkId) -> None:
        """Note that the owner counts a fork, then start the call that waited for it (R17, R18)."""
        self.user.confirm(fork)
        if fork in self.parking.waited_for:
            self.parking.confirm(fork)
        if fork in self.members.heirs:
            self.members.confirmed(fork)

    def _on_forward_call(self, source: WorkerId, message: ForwardCall, content: object) -> None:
        """Let what a message says of its context take effect first; then it arrives as any other does, or is refused (A9)."""
        carried = message.message
        check_minted(source, carried)
        objection = self.engine.arrive(source, message, content)
        if objection is None:
            self.handlers[type(carried)](source, carried, content)
        else:
            self.calls.refuse_wrapped(source, carried, ContextReleased(objection))

    # What becomes of messages that cannot be read, or will never arrive; and of the dead

    def refuse(self, source: WorkerId, message: Carrier | FetchCall | ForwardCall, reason: str) -> list[Effect]:
        """Answer a message that could not be read, or is too much: none of its forks takes effect (R28, R29)."""
        if source in self.dead:
            self.members.answer(source, message)
        elif isinstance(message, ForwardCall):
            check_minted(source, message.message)
            self.engine.arrive(source, message, None)
            self.calls.refuse_wrapped(source, message.message, refusal(reason))
        else:
            self.calls.refuse_wrapped(source, message, refusal(reason))
        return self.taken()

    def carrier_failed(self, target: WorkerId, message: UserCall, reason: str) -> list[Effect]:
        """Hear for certain that a user call of ours was not processed and never will be (R3, R28, R29)."""
        if isinstance(message, ForwardCall):
            self.engine.on_forward_failed(target, message)
        self.calls.failed(target, message, reason)
        return self.taken()

    def peer_died(self, peer: WorkerId, reason: str) -> list[Effect]:
        """Declare a peer dead without a view: nothing that it held goes (R34)."""
        return self.members.declare_dead(peer, reason)

    # What the application does with references

    def create_remote(
        self, owner: WorkerId, function: str = "", forks: Forks = (), body: bytes = b"", within: Within = None
    ) -> tuple[UserReference, list[Effect]]:
        """Begin `remote()` on another worker: a handle at once, pending (R10)."""
        self.here.check_open(owner)
        reference = self.user.create_remote(owner)
        self._send(owner, RemoteCall(reference.rref, reference.fork, function, forks, body), within)
        return reference, self.taken()

    def create_on_self(self) -> OwnedReference:
        """Begin `remote()` on this worker: the entry comes before the function (R12)."""
        self.here.check_open()
        return self.owner.create_on_self()

    def create_local(self, outcome: Outcome) -> OwnedReference:
        """Make an RRef of a value that is here (R13)."""
        self.here.check_open()
        return self.owner.create_local(outcome)

    def finish_function(self, rref: RRefId, outcome: Outcome) -> list[Effect]:
        """Report that the function which computes a value has ended (R23)."""
        self.owner.finish_function(rref, outcome)
        return self.taken()

    def share(self, reference: Reference, target: WorkerId) -> ForkData:
        """Mint a fork for a reference that is about to be written into a message (R2, R14, R16)."""
        self.here.check_open(target)
        return self.calls.share(reference, target)

    def withdraw(self, forks: Forks) -> list[Effect]:
        """Take back forks whose message could not be written (R28)."""
        self.calls.withdraw(forks)
        return self.taken()

    def call(
        self, target: WorkerId, function: str = "", forks: Forks = (), body: bytes = b"", within: Within = None
    ) -> tuple[CallId, list[Effect]]:
        """Call a function on a worker; its arguments carry the forks given."""
        self.called += 1
        call = CallId(self.called)
        self._send(target, Call(call, function, forks, body), within)
        return call, self.taken()

    def reply(
        self,
        target: WorkerId,
        call: CallId,
        failed: bool = False,
        forks: Forks = (),
        body: bytes = b"",
        within: Within = None,
    ) -> list[Effect]:
        """Answer a call; its result carries the forks given."""
        self._send(target, Return(call, failed, forks, body), within)
        return self.taken()

    def fetch(self, reference: UserReference, within: Within = None) -> tuple[FetchId, list[Effect]]:
        """Ask the owner for the value (R20)."""
        self.here.check_open()
        asking = self.user.fetch(reference.fork)
        self._send(reference.owner, asking, within)
        return asking.fetch, self.taken()

    def answer_fetch(
        self, answer: AnswerFetch, failed: bool, forks: Forks = (), body: bytes = b"", within: Within = None
    ) -> list[Effect]:
        """Send what was written for an `AnswerFetch` (R20)."""
        self._send(answer.target, FetchReturn(answer.rref, answer.fork, answer.fetch, failed, forks, body), within)
        return self.taken()

    def await_value(self, reference: OwnedReference, waiter: WaiterId) -> list[Effect]:
        """Let code on the owner wait for its value (R21)."""
        self.here.check_fence()
        self.owner.await_value(reference.rref, waiter)
        return self.taken()

    def stop_waiting(self, reference: OwnedReference, waiter: WaiterId) -> list[Effect]:
        """Let code on the owner give up waiting."""
        self.owner.stop_waiting(reference.rref, waiter)
        return self.taken()

    def let_go(self, reference: Reference) -> list[Effect]:
        """Drop one handle (R22, R26)."""
        self.calls.let_go(reference)
        return self.taken()

    def let_go_of_everything(self) -> list[Effect]:
        """Drop every handle there is, for a worker that leaves (R32)."""
        self.owner.let_go_of_everything()
        self.user.let_go_of_everything()
        self.engine.release_everything()
        return self.taken()

    def is_confirmed(self, reference: Reference) -> bool:
        """Say whether the owner counts this reference and this worker knows it (R31)."""
        return isinstance(reference, OwnedReference) or self.user.is_confirmed(reference.fork)

    def _send(self, target: WorkerId, message: Wrapped, within: Within) -> None:
        """Send a message of the program. One that is made within a context carries it (A4)."""
        self._emit(Send(target, message if within is None else self.engine.wrap(target, message, within)))

    # Time, and the end

    def tick(self, now: float) -> list[Effect]:
        """Take the time in, and send again what has waited long enough (R6)."""
        self.here.now = now
        self.channel.retry_due()
        return self.taken()

    def retry(self, peer: WorkerId, number: SequenceNumber) -> list[Effect]:
        """Send one control message again, whether or not it is due (R6)."""
        self.here.send(peer, self.channel.to(peer).retry(number, self.here.now))
        return self.taken()

    def shut_down(self) -> None:
        """Let the application begin nothing new. All else goes on (R32)."""
        self.here.closing = True

    def is_empty(self) -> bool:
        """Say whether every table is empty, but for what is kept for the excluded only (R32, R45)."""
        held = self.owner.entries or self.user.records or self.user.parents or self.channel.owes()
        return (not held or self.members.keep_all()) and self.engine.is_empty()
