"""What calls and answers do: they carry references, start functions, or are refused whole (R14 to R19, R28, R29).

Whether a message is believed is decided here too. A peer has been authenticated by the transport, so this is no defence
against a liar (R34). It keeps a mistaken peer from corrupting counts that are not its own.
"""

from __future__ import annotations

from typing import assert_never

from farref.impl.core.effects import (
    AnswerFetch,
    CompleteCall,
    FailCall,
    Failure,
    ReplyLost,
    RunCall,
    RunCreation,
)
from farref.impl.core.here import Here
from farref.impl.core.ids import ForkData, ForkId, OwnedReference, Reference, UserReference, WorkerId
from farref.impl.core.messages import (
    Call,
    CallFailed,
    Carrier,
    FetchCall,
    FetchReturn,
    Forks,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
    UserCall,
    Wrapped,
)
from farref.impl.core.owner import Owner
from farref.impl.core.parking import Parking
from farref.impl.core.user import User
from farref.impl.errors import ContextReleased, RefusedCall, RefusedResult, RpcError, WireError, refusal
from farref.impl.limits import reached


class Calls:
    """The calls and answers of one worker: those that arrive, and those of its own that never will."""

    def __init__(self, here: Here, owner: Owner, user: User, parking: Parking) -> None:
        self._here, self._emit, self._send = here, here.emit, here.send
        self._owner, self._user, self._parking = owner, user, parking

    # Arrival

    def arrive(self, source: WorkerId, message: Carrier, content: object) -> None:
        """Judge all forks of a message, then take on all of them (R28); then do what it is for."""
        references: tuple[Reference, ...] = ()
        if message.forks or type(message) is RemoteCall:
            if type(message) is RemoteCall:
                check_minted(source, message)
                self._check_born(message)
            objection = self.objection(source, message)
            if objection:
                self.refuse(source, message, objection)
                return
            references = tuple(self._take_on(source, data) for data in message.forks)
        if type(message) is Call:
            self._run(RunCall(source, message, references, content))
        elif type(message) is Return:
            self._emit(CompleteCall(message.call, message.failed, references, content))
        elif type(message) is RemoteCall:
            self._owner.on_remote_call(source, message)
            self._run(RunCreation(source, message, references, content))
        elif type(message) is FetchReturn:
            self._user.end_fetch(message.fork, message.fetch, message.failed, references, content)
        else:
            assert_never(message)

    def _check_born(self, message: RemoteCall) -> None:
        """Refuse a creation under an id of a life that has not begun (R2)."""
        if self._here.lives and self._here.is_unborn(message.rref, message.fork):
            raise WireError(f"{message.rref} names a life that has not begun")

    def objection(self, source: WorkerId, message: Carrier) -> str | None:
        """Say why a message is refused: it is too much, or something is wrong with its forks (R28, R34)."""
        if type(message) is RemoteCall and (objection := self._owner.counts.objection(source)):
            return objection
        if not message.forks:
            return None
        limit = self._here.references_max
        if len(self._user.records) + len(message.forks) > limit:
            return reached(f"worker {self._here.me} would hold more references", "references_max", limit)
        return self._objection(source, message.forks)

    def _objection(self, source: WorkerId, forks: Forks) -> str | None:
        """Say what is wrong with the forks of a message, before any of them has taken effect (R28, R34)."""
        me, workers, dead = self._here.me, self._here.workers, self._here.dead
        for data in forks:
            if data.holder != me or data.fork.created_on != source or data.owner not in workers:
                return f"{data.fork} was not made by worker {source} for worker {me}"
            if (data.parent is None) != (data.owner == source):
                return f"{data.fork} has a parent exactly if its owner did not make it; here it is not so"
            if self._here.lives and self._here.is_unborn(data.rref, data.fork, data.parent):
                return f"{data.fork} names a life that has not begun"
            if data.owner in dead:
                return f"the owner of {data.rref} is dead: {dead[data.owner]}"
            if data.fork in self._user.records:
                return f"{data.fork} is held already"
        return None

    def _take_on(self, source: WorkerId, data: ForkData) -> Reference:
        """Take one fork on; which of the four ways depends on who made it and who owns it (R14 to R19)."""
        if data.owner != self._here.me:
            return self._user.take_from_owner(data) if data.parent is None else self._user.take_from_user(data)
        return self._owner.take_from_self(data) if data.parent is None else self._owner.take_from_user(source, data)

    def _run(self, run: RunCall | RunCreation) -> None:
        """Start a function. One that was given references may have to wait (R16)."""
        if run.references:
            self._parking.start(run)
        else:
            self._emit(run)

    # What the application does

    def share(self, reference: Reference, target: WorkerId) -> ForkData:
        """Mint a fork for a reference, and note it before its message leaves (R2, R14, R16). The excluded get none (R37)."""
        fork = self._here.new_fork()
        match reference:
            case OwnedReference(rref):
                self._owner.share(rref, fork, target)
                return ForkData(self._here.me, rref, fork, target, None)
            case UserReference(owner, rref, parent):
                self._user.share(parent, fork, target)
                return ForkData(owner, rref, fork, target, parent)
            case _:
                assert_never(reference)

    def hold(self, reference: Reference) -> None:
        """Take one more handle of a reference, for code that is about to use it (R12)."""
        match reference:
            case OwnedReference(rref):
                self._owner.hold(rref)
            case UserReference(fork=fork):
                self._user.hold(fork)
            case _:
                assert_never(reference)

    def let_go(self, reference: Reference) -> None:
        """Give up one handle (R22, R26)."""
        match reference:
            case OwnedReference(rref):
                self._owner.let_go(rref)
            case UserReference(fork=fork):
                self._user.let_go(fork)
            case _:
                assert_never(reference)

    # Refusal

    def refuse(self, source: WorkerId, message: Carrier, reason: str) -> None:
        """Take on none of a message's forks. A creation is a creation all the same: the error is its value (R29)."""
        match message:
            case RemoteCall():
                check_minted(source, message)
                self._owner.on_remote_call(source, message)
                self._owner.finish_function(message.rref, Failure(refusal(reason)))
            case Call():
                self._send(source, CallFailed(message.call, message.forks, reason))
                return
            case Return():
                self._emit(FailCall(message.call, source, reason, ran=True))
            case FetchReturn():
                self._user.end_fetch(message.fork, message.fetch, True, (), RefusedResult(reason))
            case _:
                assert_never(message)
        if message.forks:
            self._send(source, CallFailed(None, message.forks, reason))

    def refuse_wrapped(self, source: WorkerId, message: Wrapped, error: RefusedCall | ContextReleased) -> None:
        """Refuse what a context came with. A fetch gets the error in place of the value."""
        if isinstance(message, FetchCall):
            self._emit(AnswerFetch(source, message.rref, message.fork, message.fetch, Failure(error)))
        else:
            self.refuse(source, message, str(error))

    def on_call_failed(self, source: WorkerId, message: CallFailed, _: object = None) -> None:
        """Withdraw what a receiver did not take on. Only forks made here for that receiver are its to refuse (R28)."""
        me = self._here.me
        self.withdraw(tuple(data for data in message.forks if data.holder == source and data.fork.created_on == me))
        if message.call is not None:
            self._emit(FailCall(message.call, source, message.reason))

    # What will never arrive, and what can never run

    def failed(self, target: WorkerId, message: UserCall, reason: str) -> None:
        """Hear for certain that a user call of ours was not processed and never will be (R3, R28, R29).

        An answer that failed is given again: its receiver still waits for it, and has not had it.
        """
        if isinstance(message, Carrier):
            self.withdraw(message.forks)
        match message:
            case RemoteCall():
                self._user.creation_failed(message.fork, reason)
            case Call():
                self._emit(FailCall(message.call, target, reason))
            case Return():
                self._emit(ReplyLost(target, message.call, reason))
            case FetchReturn():
                self._owner.on_fetch_call(target, FetchCall(message.rref, message.fork, message.fetch))
            case FetchCall():
                self._user.end_fetch(message.fork, message.fetch, True, (), RefusedCall(reason))
            case UserAccept() | CallFailed():
                if target not in self._here.dead:
                    self._send(target, message)
            case ForwardCall():
                self.failed(target, message.message, reason)
            case _:
                assert_never(message)

    def withdraw(self, forks: Forks) -> None:
        """Take back forks whose message was not written, or never arrived (R28)."""
        for data in forks:
            if data.parent is None:
                self._owner.withdraw(data.rref, data.fork)
            else:
                self._user.forget_child(data.fork)

    def give_up(self, fork: ForkId, error: RpcError) -> None:
        """Let a call that waits, and was given a fork whose owner is dead, never run (R34)."""
        run = self._parking.give_up(fork)
        if run is None:
            return
        match run:
            case RunCall():
                if run.source not in self._here.dead:
                    self._send(run.source, CallFailed(run.call.call, (), str(error)))
            case RunCreation():
                self._owner.finish_function(run.creation.rref, Failure(error))
            case _:
                assert_never(run)
        for reference in run.references:
            self.let_go(reference)


def check_minted(source: WorkerId, message: Wrapped) -> None:
    """Refuse a creation under another worker's name, before anything of its message has taken effect (R2, R34)."""
    if isinstance(message, RemoteCall) and (message.rref.created_on != source or message.fork.created_on != source):
        raise WireError(f"worker {source} claims to have created {message.rref}")
