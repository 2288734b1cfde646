"""Release without resurrection: close, account for every call, forget (A24, A25).

An id may be forgotten when no call that carries it is under way and none can be sent: everybody who was sent one is closed,
and the closed send none. The creator keeps the books. A worker's `Closed` says what was sent and what has arrived until
then, and `Settled` each call after that, so the balance of two workers is 0 just when nothing is under way between them.
It may be negative for a while, as messages overtake each other.
"""

from __future__ import annotations

from collections.abc import Iterable

from farref.impl.core.autograd.effects import TakeForDead
from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.autograd.ledger import Phase
from farref.impl.core.autograd.messages import Cause, CleanupContext, Closed, Fault, Forget, Settled
from farref.impl.core.autograd.rooting import Rooting
from farref.impl.core.autograd.tables import Context, Release
from farref.impl.core.ids import WorkerId
from farref.impl.errors import ContextReleased, WireError


class Releasing(Rooting):
    """How contexts end."""

    def release(self, context_id: ContextId) -> None:
        """Release a context on its creator: close it, and have it closed everywhere (A24)."""
        if context_id.created_on != self.me:
            raise ContextReleased(f"{context_id} is released where it was made, on worker {context_id.created_on}")
        context = self.opened(context_id)
        context.release = Release(told={self.me: None})
        self._close(context_id, context)

    def _on_cleanup(self, cleanup: CleanupContext) -> None:
        """Close a context, also one that never was open here (A24)."""
        context = self.contexts.setdefault(cleanup.context, Context())
        if context.is_open:
            self._close(cleanup.context, context)

    def _close(self, context_id: ContextId, context: Context) -> None:
        """Fail the pass that this worker is the root of, leave the one it is in, drop what was recorded (A24)."""
        self._fail_pass_of(context_id, Fault(Cause.RELEASED, self.me))
        context.is_open, context.task = False, None
        context.sends, context.recvs, context.gradients = {}, {}, {}
        account = Closed(context_id, dict(context.sent), dict(context.got), dict(context.failed))
        self._tell(context_id.created_on, account)

    def _fail_pass_of(self, context_id: ContextId, fault: Fault) -> None:
        run = self.rooted.get(context_id)
        if run is not None and run.phase is not Phase.COMMITTING:
            self._fail(run, fault)

    def _on_closed(self, source: WorkerId, closed: Closed) -> None:
        """Enter a worker's account, and close the context wherever it sent a call to (A25)."""
        release = self._release(closed.context)
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

    def _have_closed(self, context_id: ContextId, release: Release, workers: Iterable[WorkerId]) -> None:
        """Have some workers close a context; if somebody has died, everybody, as the dead cannot say whom they called (A21)."""
        for worker in sorted(self.workers) if self.dead else workers:
            if worker not in release.told:
                release.told[worker] = None
                self._tell(worker, CleanupContext(context_id))

    def _on_settled(self, settled: Settled) -> None:
        release = self._release(settled.context)
        if release is not None:
            release.balance[settled.source, settled.target] -= 1
            self._forget_if_drained(settled.context, release)

    def _on_forget(self, forget: Forget) -> None:
        """Remove the last trace (A25)."""
        nobody = next((worker for worker in forget.dead if worker not in self.workers), None)
        if nobody is not None:
            raise WireError(f"a peer takes worker {nobody} for dead, and there is none")
        self.contexts.pop(forget.context, None)
        for worker in forget.dead:
            if worker not in self.dead and worker != self.me:
                self._emit(TakeForDead(worker))

    def _settle(self, context_id: ContextId, source: WorkerId, target: WorkerId) -> None:
        """Account for a call that arrived, or failed, where the context is closed."""
        self._tell(context_id.created_on, Settled(context_id, source, target))

    def _release(self, context_id: ContextId) -> Release | None:
        context = self.contexts.get(context_id)
        return context.release if context is not None else None

    def _forget_if_drained(self, context_id: ContextId, release: Release) -> None:
        """Have everybody forget a context of which no call is under way (A25). The dead count as closed (A21)."""
        for worker in release.told:
            if worker not in release.closed and worker not in self.dead:
                return
        for pair, number in release.balance.items():
            if number and self.dead.isdisjoint(pair):
                return
        for worker in release.told:
            self._tell(worker, Forget(context_id, tuple(sorted(self.dead))))

    def _on_death_in_contexts(self, peer: WorkerId) -> None:
        """Drop the contexts that a dead worker made; wait for it in no account (A21)."""
        for context_id, context in list(self.contexts.items()):
            if context_id.created_on == peer:
                self._fail_pass_of(context_id, Fault(Cause.DIED, peer))
                del self.contexts[context_id]
            elif context.release is not None:
                self._have_closed(context_id, context.release, ())
                self._forget_if_drained(context_id, context.release)
