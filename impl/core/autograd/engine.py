"""Distributed autograd on one worker: messages and operations in, effects out (`spec/autograd.md`).

The engine is one of the tables of a core, beside `owner` and `user`: it uses the core's numbered control messages (A3) and
its lock. Read its parts in this order. `tables` says what is kept. Here is how calls are recorded, and which handler
a message goes to. `engaging` is a worker's side of a pass, with `task` beneath it; `rooting` is the root's side, with
`ledger` beneath it; `releasing` is how contexts end.

A method is one step. It ends when all that it says to itself has taken effect (`_drain`).

What is not pretty: the graphs that tensors hang on are the tape's, and so are the gradients. The engine keeps both. A task
follows the edges of a graph, and only the walk that a shell brings along looks at numbers (`graph`).
"""

from __future__ import annotations

from farref.impl.core.autograd.graph import Node
from farref.impl.core.autograd.ids import ContextId, ForwardId
from farref.impl.core.autograd.messages import (
    Abort,
    Begin,
    CleanupContext,
    Closed,
    Commit,
    Committed,
    CountedBody,
    EngineBody,
    Forget,
    Report,
    Settled,
)
from farref.impl.core.autograd.releasing import Releasing
from farref.impl.core.autograd.tables import Context, Sent
from farref.impl.core.autograd.task import Progress, Task
from farref.impl.core.ids import WorkerId


class Engine(Releasing):
    """What is recorded, and what messages do."""

    # Recording

    def open_context(self) -> ContextId:
        """Open a context, as its creator (A2, A8)."""
        context_id = ContextId(self.me, self.incarnation, self._mint())
        self.contexts[context_id] = Context()
        return context_id

    def record_call(self, context_id: ContextId, target: WorkerId, function: str, node: Node | None) -> ForwardId:
        """Account for a call that is about to leave, and record the send of its pair if it has one (A7, A8)."""
        context = self.opened(context_id)
        forward = ForwardId(self.me, self.incarnation, self._mint())
        context.sent[target] += 1
        if node is not None:
            context.sends[forward] = Sent(function, node)
        return forward

    def on_forward_call(
        self, source: WorkerId, context_id: ContextId, forward: ForwardId, node: Node | None
    ) -> str | None:
        """Record the recv of a call that has arrived, opening its context; or say why it is refused (A4, A8, A9)."""
        context = self.contexts.get(context_id)
        if context is None:
            if context_id.created_on in self.dead:
                return f"{context_id} is gone: its creator died"
            context = self.contexts[context_id] = Context()
        context.got[source] += 1
        if not context.is_open:
            self._settle(context_id, source, self.me)
            self._drain()
            return f"{context_id} was released"
        if node is not None:
            context.recvs[node] = forward
        return None

    def call_failed(self, context_id: ContextId, target: WorkerId) -> None:
        """Account for a call of ours that will never arrive. Its send stays recorded (A9, A25)."""
        context = self.contexts.get(context_id)
        if context is not None:
            context.failed[target] += 1
            if not context.is_open:
                self._settle(context_id, self.me, target)
                self._drain()

    # Steps: each of these ends with what the worker says to itself

    def take(self, source: WorkerId, body: EngineBody) -> None:
        """Let a control message take effect."""
        self._take(source, body)
        if self._local:
            self._drain()

    def worked(self, task: Task, body: CountedBody | Begin, progress: Progress) -> None:
        """Hear what came of a message that a task has processed (A13)."""
        super().worked(task, body, progress)
        if self._local:
            self._drain()

    def raised(self, task: Task, body: CountedBody | Begin, error: bytes) -> None:
        """Hear that a rule or a hook raised (A18)."""
        super().raised(task, body, error)
        self._drain()

    def release(self, context_id: ContextId) -> None:
        """Release a context (A24)."""
        super().release(context_id)
        self._drain()

    def release_everything(self) -> None:
        """Release every context that was made here, for a worker that leaves."""
        for context_id, context in list(self.contexts.items()):
            if context_id.created_on == self.me and context.is_open:
                self.release(context_id)

    def peer_died(self, peer: WorkerId) -> None:
        """Come out of everything that only a dead worker could end (A21)."""
        self.dead.add(peer)
        self._on_death_in_passes(peer)
        self._leave_passes_of(peer)
        self._on_death_in_contexts(peer)
        self._drain()

    def is_empty(self) -> bool:
        """Say whether nothing is left of any context or pass."""
        return not self.contexts and not self.passes

    def _drain(self) -> None:
        while self._local:
            self._take(self.me, self._local.popleft())

    def _take(self, source: WorkerId, body: EngineBody) -> None:
        if type(body) is Report:
            self._on_report(source, body)
        elif type(body) is Commit:
            self._on_commit(body)
        elif type(body) is Committed:
            self._on_committed(source, body)
        elif type(body) is Abort:
            self._on_abort(body)
        elif type(body) is CleanupContext:
            self._on_cleanup(body)
        elif type(body) is Closed:
            self._on_closed(source, body)
        elif type(body) is Settled:
            self._on_settled(body)
        elif type(body) is Forget:
            self._on_forget(body)
        else:
            self._on_counted(body)
