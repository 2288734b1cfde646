"""What messages do to the tables of one worker when they arrive, or when it is certain that they never will.

Whether a message is believed is decided here too. A peer has been authenticated by the transport, so this is no defence
against a liar (R34); it keeps a mistaken peer from corrupting counts that are not its own.
"""

from __future__ import annotations

from typing import assert_never

from farref.impl.core.autograd.messages import PropagateGradients, Report
from farref.impl.core.effects import (
    AnswerFetch,
    CompleteCall,
    Effect,
    FailCall,
    Failure,
    ReplyLost,
    RunCall,
    RunCreation,
)
from farref.impl.core.forwards import Forwards, check_minted
from farref.impl.core.ids import (
    CallId,
    ForkData,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    RRefId,
    SequenceNumber,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Carrier,
    ChildAccept,
    Control,
    ControlBody,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
    UserCall,
    UserDelete,
    Wrapped,
)
from farref.impl.errors import ContextReleased, PeerDied, RefusedCall


class Arrivals(Forwards):
    """What messages do when they arrive, or when it is certain that they never will."""

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Take one message in. `content` is its body, read; it comes back in the effect that uses it."""
        if source in self.dead:
            return []
        if type(message) is Call or type(message) is Return or type(message) is FetchReturn:
            self._on_carrier(source, message, content)
        elif type(message) is Control:
            self._on_control(source, message)
        elif type(message) is Ack:
            self._on_ack(source, message.incarnation, message.number)
        elif type(message) is RemoteCall:
            check_minted(source, message)
            self._on_carrier(source, message, content)
        elif type(message) is UserAccept:
            self._on_user_accept(source, message.fork)
        elif type(message) is FetchCall:
            self.owner.on_fetch_call(message.rref, source, message.fork, message.fetch)
            self._check_creator(message.rref)
        elif type(message) is CallFailed:
            self._on_call_failed(source, message.call, message.forks, message.reason)
        elif type(message) is ForwardCall:
            objection = self._on_forward_call(source, message, content)
            if objection is None:
                return Arrivals.receive(self, source, message.message, content)
            self._refuse_wrapped(source, message.message, ContextReleased(objection))
        else:
            assert_never(message)
        return self._taken()

    def refuse(self, source: WorkerId, message: Carrier | ForwardCall, reason: str) -> list[Effect]:
        """Answer a carrier whose body could not be read: none of its forks takes effect (R28, R29)."""
        if isinstance(message, ForwardCall):
            self._on_forward_call(source, message, None)
            self._refuse_wrapped(source, message.message, RefusedCall(reason))
        else:
            check_minted(source, message)
            self._refuse(source, message, reason)
        return self._taken()

    def carrier_failed(self, target: WorkerId, message: UserCall, reason: str) -> list[Effect]:
        """Hear for certain that a user call of ours was not processed and never will be (R3, R28, R29).

        An answer that failed is given again: its receiver still waits for it, and has not had it.
        """
        match message:
            case RemoteCall():
                self._withdraw_all(message.forks)
                self.user.creation_failed(message.fork, reason)
            case Call():
                self._withdraw_all(message.forks)
                self._emit(FailCall(message.call, target, reason))
            case Return():
                self._withdraw_all(message.forks)
                self._emit(ReplyLost(target, message.call, reason))
            case FetchReturn():
                self._withdraw_all(message.forks)
                self.owner.on_fetch_call(message.rref, target, message.fork, message.fetch)
            case FetchCall():
                self.user.end_fetch(message.fork, message.fetch, True, (), RefusedCall(reason))
            case UserAccept() | CallFailed():
                if target not in self.dead:
                    self._send(target, message)
            case ForwardCall():
                self._on_forward_failed(target, message)
                return Arrivals.carrier_failed(self, target, message.message, reason)
            case _:
                assert_never(message)
        return self._taken()

    def peer_died(self, peer: WorkerId, reason: str) -> list[Effect]:
        """Declare a peer dead: nothing of it is heard any more, and what only it could end, ends now (R30, R34)."""
        if peer in self.dead or peer == self.me:
            return []
        self.dead[peer] = reason
        self.channel.forget(peer)
        error = PeerDied(reason)
        for fork in self.user.on_peer_died(peer, error):
            run = self.parking.give_up(fork)
            if run is not None:
                self._give_up(run, error)
        self.owner.on_peer_died(peer, error)
        self._on_death(peer)
        return self._taken()

    # Control messages

    def _on_control(self, source: WorkerId, control: Control) -> None:
        """Let a control message take effect once; answer every copy (R7)."""
        incoming = self.channel.from_(source)
        if incoming.is_refused(control):
            return
        if incoming.take(control):
            self._take_effect(source, control.body)
        self._send(source, Ack(control.incarnation, control.number))

    def _take_effect(self, source: WorkerId, body: ControlBody) -> None:
        if type(body) is PropagateGradients or type(body) is Report:  # most of all
            self.engine.take(source, body)
        elif type(body) is UserDelete:
            self.owner.on_user_delete(body.rref, body.fork, source)
        elif type(body) is ForkRequest:
            self.owner.on_fork_request(body.rref, body.fork, source)
            self._check_creator(body.rref)
        elif type(body) is ChildAccept:
            self.user.forget_child(body.fork)
        elif type(body) is CreateFailed:
            self.owner.create_failed(body.rref, body.fork, source, RefusedCall(body.reason))
        else:
            self.engine.take(source, body)

    def _on_ack(self, source: WorkerId, incarnation: Incarnation, number: SequenceNumber) -> None:
        """Stop repeating what was answered; for two of the messages the answer confirms (R5)."""
        if incarnation != self.incarnation:
            return
        body, released = self.channel.to(source).settle(number, self.now)
        for control in released:
            self._send(source, control)
        if type(body) is ForkRequest or type(body) is CreateFailed:
            self._confirm(body.fork)

    # User calls

    def _on_carrier(self, source: WorkerId, message: Carrier, content: object) -> None:
        """Judge all forks of a message, then take on all of them (R28)."""
        references: tuple[Reference, ...] = ()
        if message.forks:
            objection = self._objection(source, message.forks)
            if objection:
                self._refuse(source, message, objection)
                return
            references = tuple(self._take_on(source, data) for data in message.forks)
        if type(message) is Call:
            self._run(RunCall(source, message, references, content))
        elif type(message) is Return:
            self._emit(CompleteCall(message.call, message.failed, references, content))
        elif type(message) is RemoteCall:
            self._create(source, message)
            self._run(RunCreation(source, message, references, content))
        elif type(message) is FetchReturn:
            self.user.end_fetch(message.fork, message.fetch, message.failed, references, content)
        else:
            assert_never(message)

    def _objection(self, source: WorkerId, forks: tuple[ForkData, ...]) -> str | None:
        """Say what is wrong with the forks of a message, before any of them has taken effect (R28, R34)."""
        for data in forks:
            if data.holder != self.me or data.fork.created_on != source or data.owner not in self.workers:
                return f"{data.fork} was not made by worker {source} for worker {self.me}"
            if (data.parent is None) != (data.owner == source):
                return f"{data.fork} has a parent exactly if its owner did not make it; here it is not so"
            if data.owner in self.dead:
                return f"the owner of {data.rref} is dead: {self.dead[data.owner]}"
            if data.fork in self.user.records:
                return f"{data.fork} is held already"
        return None

    def _take_on(self, source: WorkerId, data: ForkData) -> Reference:
        """Take one fork on; which of the four ways depends on who made it and who owns it (R14 to R19)."""
        if data.owner != self.me:
            return self.user.take_from_owner(data) if data.parent is None else self.user.take_from_user(data)
        if data.parent is None:
            self.owner.take_from_self(data.rref, data.fork)
        else:
            self.owner.take_from_user(data.rref)
            self._check_creator(data.rref)
            self._control(source, ChildAccept(data.rref, data.fork))
        return OwnedReference(data.rref)

    def _check_creator(self, rref: RRefId) -> None:
        """Let nobody wait for a creation whose creator was declared dead before they came (R34)."""
        reason = self.dead.get(rref.created_on)
        if reason is not None:
            self.owner.creator_is_dead(rref, PeerDied(reason))

    def _create(self, source: WorkerId, message: RemoteCall) -> None:
        """Register a creation on receipt, and answer at once (R10, R11)."""
        self.owner.create(message.rref, message.fork, source)
        self._send(source, UserAccept(message.rref, message.fork))

    def _run(self, run: RunCall | RunCreation) -> None:
        """Start a function, or park it until every fork among its arguments is confirmed (R16)."""
        if run.references:
            held = [one.fork for one in run.references if type(one) is UserReference]
            pending = {fork for fork in held if not self.user.records[fork].confirmed}
            if pending:
                self.parking.park(run, pending)
                return
        self._emit(run)

    def _give_up(self, run: RunCall | RunCreation, error: PeerDied) -> None:
        match run:
            case RunCall():
                self._send(run.source, CallFailed(run.call.call, (), str(error)))
            case RunCreation():
                self.owner.finish_function(run.creation.rref, Failure(error))
            case _:
                assert_never(run)
        for reference in run.references:
            self._let_go(reference)

    def _refuse(self, source: WorkerId, message: Carrier, reason: str) -> None:
        """Take on none of a message's forks. A creation is a creation all the same: the error is its value (R29)."""
        match message:
            case RemoteCall():
                self._create(source, message)
                self.owner.finish_function(message.rref, Failure(RefusedCall(reason)))
            case Call():
                self._send(source, CallFailed(message.call, message.forks, reason))
                return
            case Return():
                self._emit(FailCall(message.call, source, reason))
            case FetchReturn():
                self.user.end_fetch(message.fork, message.fetch, True, (), RefusedCall(reason))
            case _:
                assert_never(message)
        if message.forks:
            self._send(source, CallFailed(None, message.forks, reason))

    def _refuse_wrapped(self, source: WorkerId, message: Wrapped, error: RefusedCall | ContextReleased) -> None:
        """Refuse what a context came with. A fetch gets the error in place of the value."""
        if isinstance(message, FetchCall):
            self._emit(AnswerFetch(source, message.rref, message.fork, message.fetch, Failure(error)))
        else:
            self._refuse(source, message, str(error))

    def _on_user_accept(self, source: WorkerId, fork: ForkId) -> None:
        record = self.user.records.get(fork)
        if record is not None and record.owner == source:
            self._confirm(fork)

    def _on_call_failed(self, source: WorkerId, call: CallId | None, forks: tuple[ForkData, ...], reason: str) -> None:
        """Withdraw what a receiver did not take on. Only forks made here for that receiver are its to refuse (R28)."""
        self._withdraw_all(tuple(data for data in forks if data.holder == source and data.fork.created_on == self.me))
        if call is not None:
            self._emit(FailCall(call, source, reason))

    def _withdraw_all(self, forks: tuple[ForkData, ...]) -> None:
        for data in forks:
            self._withdraw(data)
