"""Contexts on one worker: opened, recorded in, and released without resurrection (A4, A7 to A9, A24, A25).

A release closes a context everywhere, accounts for every call, and then forgets. An id may be forgotten when no call that
carries it is under way and none can be sent: everybody who was sent one is closed, and the closed send none. The creator keeps
the books. A worker's `Closed` says what was sent and what has arrived until then, and `Settled` each call after that, so the
balance of two workers is 0 just when nothing is under way between them. It may be negative for a while, as messages overtake
each other.

`TRANSITIONS` lists what happens to a context here. The rest, how it enters passes and leaves them, is in `engaging`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from farref.impl.core.autograd.effects import TakeForDead
from farref.impl.core.autograd.graph import Node
from farref.impl.core.autograd.ids import ContextId, ForwardId
from farref.impl.core.autograd.messages import Cause, CleanupContext, Closed, Fault, Forget, Settled
from farref.impl.core.autograd.rooting import Rooting
from farref.impl.core.autograd.tables import Context, EngineTables, Release, Sent, Stage
from farref.impl.core.here import LetEnd
from farref.impl.core.ids import WorkerId
from farref.impl.core.transitions import SAME, transitions
from farref.impl.errors import ContextReleased, WireError

ABSENT, OPEN, IN_PASS, CLOSED = Stage

# fmt: off
TRANSITIONS: Final = transitions(
    # handler            in phase                 leads to and may ask for
    ("open",             (ABSENT,),               OPEN,    ()),
    ("record_call",      (OPEN, IN_PASS),         SAME,    ()),
    ("record_arrival",   (ABSENT,),               OPEN,    ()),
    ("record_arrival",   (ABSENT, OPEN, IN_PASS), SAME,    ()),
    ("record_arrival",   (CLOSED,),               SAME,    (Settled,)),
    ("call_failed",      (ABSENT, OPEN, IN_PASS), SAME,    ()),
    ("call_failed",      (CLOSED,),               SAME,    (Settled,)),
    ("release",          (OPEN, IN_PASS),         CLOSED,  (Closed,)),
    ("on_cleanup",       (ABSENT, OPEN, IN_PASS), CLOSED,  (Closed,)),
    ("on_closed",        (CLOSED,),               SAME,    (CleanupContext, Forget)),
    ("on_settled",       (CLOSED,),               SAME,    (Forget,)),
    ("on_forget",        (CLOSED,),               ABSENT,  ()),
    ("on_forget",        (CLOSED,),               SAME,    (TakeForDead,)),
    ("on_death",         (OPEN, IN_PASS),         SAME,    ()),
    ("on_death",         (CLOSED,),               SAME,    (CleanupContext, Forget)),
    ("on_death",         (OPEN, IN_PASS, CLOSED), ABSENT,  ()),
)
# fmt: on
"""What can happen to a context on one worker, besides what passes do to it (`engaging`)."""


class Contexts:
    """The contexts of one worker: how they begin, what is recorded in them, and how they end."""

    def __init__(self, tables: EngineTables, rooting: Rooting) -> None:
        self._tables, self._rooting = tables, rooting
        self._me, self._tell, self._dead = tables.me, tables.tell, tables.dead
        self._contexts = tables.contexts

    # Recording

    def open(self) -> ContextId:
        """Open a context, as its creator (A2, A8)."""
        context_id = ContextId(self._me, self._tables.incarnation, self._tables.mint())
        self._contexts[context_id] = Context()
        return context_id

    def record_call(self, context_id: ContextId, target: WorkerId, function: str, node: Node | None) -> ForwardId:
        """Account for a call that is about to leave, and record the send of its pair if it has one (A7, A8)."""
        context = self._tables.opened(context_id)
        forward = ForwardId(self._me, self._tables.incarnation, self._tables.mint())
        context.sent[target] += 1
        if node is not None:
            context.sends[forward] = Sent(function, node)
        return forward

    def record_arrival(
        self, source: WorkerId, context_id: ContextId, forward: ForwardId, node: Node | None
    ) -> str | None:
        """Record the recv of a call that has arrived, opening its context; or say why it is refused (A4, A8, A9)."""
        objection = self.objection(context_id)
        context = self._contexts.get(context_id)
        if context is None:
            if objection is not None:
                return objection
            context = self._contexts[context_id] = Context()
        context.got[source] += 1
        if objection is not None:
            self._settle(context_id, source, self._me)
        elif node is not None:
            context.recvs[node] = forward
        return objection

    def objection(self, context_id: ContextId) -> str | None:
        """Say why a call that carries a context is refused, if it is (A9)."""
        context = self._contexts.get(context_id)
        if context is None:
            return f"{context_id.told} is gone: its creator died" if context_id.created_on in self._dead else None
        return None if context.is_open else f"{context_id.told} was released"

    def call_failed(self, context_id: ContextId, target: WorkerId) -> None:
        """Account for a call of ours that will never arrive. Its send stays recorded (A9, A25)."""
        context = self._contexts.get(context_id)
        if context is not None:
            context.failed[target] += 1
            if not context.is_open:
                self._settle(context_id, self._me, target)

    # Release

    def release(self, context_id: ContextId, let_end: LetEnd) -> None:
        """Release a context on its creator: close it, and have it closed everywhere (A24)."""
        if context_id.created_on != self._me:
            raise ContextReleased(f"{context_id.told} is released where it was made, on worker {context_id.created_on}")
        context = self._tables.opened(context_id)
        context.release = Release(told={self._me: None})
        self._close(context_id, context, let_end)

    def on_cleanup(self, _: WorkerId, cleanup: CleanupContext) -> None:
        """Close a context, also one that never was open here (A24)."""
        context = self._contexts.setdefault(cleanup.context, Context())
        if context.is_open:
            self._close(cleanup.context, context, self._tables.here.let_end)

    def on_closed(self, source: WorkerId, closed: Closed) -> None:
        """Enter a worker's account, and close the context wherever it sent a call to (A25)."""
        release = self._release_of(closed.context)
        if release is None:
            return
        release.closed.add(source)
        for target, number in closed.sent.items():
            release.balance[source, target] += number
        self._have_closed(closed.context, release, closed.sent)
        for sender, number in closed.got.items():
            release.balance[sender, source] -= number
        for target, number in closed.failed.items():
            release.balance[source, target] -= number
        self._forget_if_drained(closed.context, release)

    def on_settled(self, _: WorkerId, settled: Settled) -> None:
        """Enter one more call that has arrived, or has failed (A25)."""
        release = self._release_of(settled.context)
        if release is not None:
            release.balance[settled.source, settled.target] -= 1
            self._forget_if_drained(settled.context, release)

    def on_forget(self, _: WorkerId, forget: Forget) -> None:
        """Remove the last trace (A25), once nothing is heard any more of those that the creator does not hear (A21, A29)."""
        nobody = next((worker for worker in forget.dead if worker not in self._tables.workers), None)
        if nobody is not None:
            raise WireError(f"a peer takes worker {nobody} for dead, and there is none")
        context = self._contexts.get(forget.context)
        unheard = tuple(worker for worker in forget.dead if worker not in self._dead and worker != self._me)
        if context is not None and unheard:
            context.unheard = unheard
        else:
            self._contexts.pop(forget.context, None)
        for worker in unheard:
            self._tables.emit(TakeForDead(worker))

    def _settle(self, context_id: ContextId, source: WorkerId, target: WorkerId) -> None:
        """Account for a call that arrived, or failed, where the context is closed."""
        self._tell(context_id.created_on, Settled(context_id, source, target))

    def on_death(self, peer: WorkerId) -> None:
        """Drop the contexts that a dead worker made; wait for it in no account (A21)."""
        for context_id, context in list(self._contexts.items()):
            if context_id.created_on == peer:
                self._rooting.fail_pass_of(context_id, Fault(Cause.DIED, peer))
                self._tables.here.let_end(self._contexts.pop(context_id))
            elif context.unheard and all(worker in self._dead for worker in context.unheard):
                self._contexts.pop(context_id)
            elif context.release is not None:
                self._have_closed(context_id, context.release, ())
                self._forget_if_drained(context_id, context.release)

    def _close(self, context_id: ContextId, context: Context, let_end: LetEnd) -> None:
        """Fail the pass that this worker is the root of, leave the one it is in, drop what was recorded (A24)."""
        self._rooting.fail_pass_of(context_id, Fault(Cause.RELEASED, self._me))
        let_end((context.sends, context.recvs, context.gradients, context.task))
        context.is_open, context.task = False, None
        context.sends, context.recvs, context.gradients = {}, {}, {}
        account = Closed(context_id, dict(context.sent), dict(context.got), dict(context.failed))
        self._tell(context_id.created_on, account)

    def _have_closed(self, context_id: ContextId, release: Release, workers: Iterable[WorkerId]) -> None:
        """Have some workers close a context; if somebody has died, everybody, as the dead cannot say whom they called (A21)."""
        for worker in sorted(self._tables.workers) if self._dead else workers:
            if worker not in release.told:
                release.told[worker] = None
                self._tell(worker, CleanupContext(context_id))

    def _release_of(self, context_id: ContextId) -> Release | None:
        context = self._contexts.get(context_id)
        return context.release if context is not None else None

    def _forget_if_drained(self, context_id: ContextId, release: Release) -> None:
        """Have everybody forget a context of which no call is under way (A25). The dead count as closed (A21)."""
        for worker in release.told:
            if worker not in release.closed and worker not in self._dead:
                return
        for pair, number in release.balance.items():
            if number and self._dead.keys().isdisjoint(pair):
                return
        for worker in release.told:
            self._tell(worker, Forget(context_id, tuple(sorted(self._dead))))
