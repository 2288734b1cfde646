"""Distributed autograd on one worker: messages and operations in, effects out (`spec/autograd.md`).

The engine is one part of a core, beside `owner` and `user`: it uses the core's numbered control messages (A3) and its lock.
It puts its own parts together and says which part each message goes to. In the order to read them: `tables` says what is kept;
`contexts` is how contexts begin and end, and what is recorded in them; `engaging` is a worker's side of a pass, with `task`
beneath it; `rooting` is the root's side, with `ledger` beneath it.

A method is one step. It ends when all that it says to itself has taken effect (`_drain`).

What is not pretty: the graphs that tensors hang on are the tape's, and so are the gradients. The engine keeps both. A task
follows the edges of a graph, and only the walk that a shell brings along looks at numbers (`graph`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from farref.impl.core.autograd.contexts import Contexts
from farref.impl.core.autograd.effects import Work
from farref.impl.core.autograd.engaging import Engaging
from farref.impl.core.autograd.graph import Node, Passage
from farref.impl.core.autograd.ids import ContextId, PassId
from farref.impl.core.autograd.messages import (
    Abort,
    CleanupContext,
    Closed,
    Commit,
    Committed,
    EngineBody,
    Forget,
    Mark,
    PropagateGradients,
    Report,
    Resume,
    Seek,
    Settled,
)
from farref.impl.core.autograd.rooting import Rooting
from farref.impl.core.autograd.tables import EngineTables
from farref.impl.core.autograd.task import Progress
from farref.impl.core.channel import Channel
from farref.impl.core.effects import Effect
from farref.impl.core.here import Here, LetEnd
from farref.impl.core.ids import FetchId, WorkerId
from farref.impl.core.messages import FetchCall, FetchReturn, ForwardCall, Wrapped
from farref.impl.errors import WireError


class Engine:
    """Distributed autograd on one worker. `taken` ends a step, and gives its effects."""

    def __init__(self, here: Here, channel: Channel, taken: Callable[[], list[Effect]]) -> None:
        self._here, self._taken = here, taken
        self._tables = tables = EngineTables(here, channel)
        self._engaging = engaging = Engaging(tables)
        self._rooting = rooting = Rooting(tables, engaging)
        self._contexts = contexts = Contexts(tables, rooting)
        self.contexts, self.passes, self.opened = tables.contexts, tables.passes, tables.opened
        self.objection = contexts.objection
        self.fetching: dict[tuple[WorkerId, FetchId], ContextId] = {}
        """The contexts of fetches that were asked for here and have not been answered (A4)."""
        self.handlers: Mapping[type, Callable[[WorkerId, Any], None]] = {
            **dict.fromkeys((PropagateGradients, Mark, Seek, Resume), engaging.on_counted),
            Commit: engaging.on_commit,
            Abort: engaging.on_abort,
            Report: rooting.on_report,
            Committed: rooting.on_committed,
            CleanupContext: contexts.on_cleanup,
            Closed: contexts.on_closed,
            Settled: contexts.on_settled,
            Forget: contexts.on_forget,
        }

    # What the application does: each of these is a step of the core

    def open_context(self) -> ContextId:
        """Open a context, as its creator (A2, A8)."""
        self._here.check_open()
        return self._contexts.open()

    def release(self, context_id: ContextId, let_end: LetEnd | None = None) -> list[Effect]:
        """Release a context, everywhere (A24). Whoever has a place for it can let what was recorded here end there."""
        self._contexts.release(context_id, let_end or self._here.let_end)
        return self._drained()

    def begin(
        self, context_id: ContextId, root: Node, seeds: Any, smart: bool, retain: bool
    ) -> tuple[PassId, list[Effect]]:
        """Begin a backward pass here (A10)."""
        return self._rooting.begin(context_id, root, seeds, smart, retain), self._drained()

    def worked(self, work: Work, progress: Progress) -> list[Effect]:
        """Hear what came of a message that a task has processed (A13)."""
        self._engaging.worked(work, progress)
        return self._drained()

    def raised(self, work: Work, error: bytes) -> list[Effect]:
        """Hear that a rule or a hook raised (A18)."""
        self._engaging.raised(work, error)
        return self._drained()

    def time_out(self, pass_id: PassId) -> list[Effect]:
        """Let a pass fail because its time is up, unless it is decided (A20)."""
        self._rooting.time_out(pass_id)
        return self._drained()

    # Calls

    def wrap(self, target: WorkerId, message: Wrapped, passage: Passage) -> ForwardCall:
        """Have a call carry its context, and record the send of its pair (A4, A8)."""
        node = passage.node
        forward = self._contexts.record_call(passage.context, target, passage.function, node)
        return ForwardCall(passage.context, forward, 0 if node is None else len(node.edges), message)

    def arrive(self, source: WorkerId, message: ForwardCall, content: object) -> str | None:
        """Record what a call says of its context (A8), or say why it is refused (A9).

        What the tensors of its pair hang on, if it has one and could be read, is `content.node`.
        """
        if message.forward.created_on != source or message.context.created_on not in self._here.workers:
            raise WireError(f"worker {source} claims to have made {message.forward} in {message.context}")
        node = getattr(content, "node", None)
        objection = self._contexts.record_arrival(source, message.context, message.forward, node)
        self._drain()
        if objection is None and type(message.message) is FetchCall:
            self.fetching[source, message.message.fetch] = message.context
        return objection

    def call_here(self, passage: Passage, receive: Node | None) -> None:
        """Record both ends of a call that a worker makes to itself without a message (A8)."""
        forward = self._contexts.record_call(passage.context, self._here.me, passage.function, passage.node)
        self._contexts.record_arrival(self._here.me, passage.context, forward, receive)

    def on_forward_failed(self, target: WorkerId, message: ForwardCall) -> None:
        """Account for a call of ours that will never arrive (A25). A value that failed is given again, in its context."""
        self._contexts.call_failed(message.context, target)
        self._drain()
        if type(message.message) is FetchReturn:
            self.fetching[target, message.message.fetch] = message.context

    # Control messages, deaths, and the end

    def take(self, source: WorkerId, body: EngineBody) -> None:
        """Let a control message take effect."""
        self.handlers[type(body)](source, body)
        if self._tables.local:
            self._drain()

    def peer_died(self, peer: WorkerId) -> None:
        """Come out of everything that only a dead worker could end (A21)."""
        self.fetching = {key: context for key, context in self.fetching.items() if key[0] != peer}
        self._rooting.on_death(peer)
        self._engaging.leave_passes_of(peer)
        self._contexts.on_death(peer)
        self._drain()

    def excluded(self) -> None:
        """End the passes of a worker that learns that it is excluded, before it takes all others for lost (A29)."""
        self._rooting.on_excluded()

    def release_everything(self) -> None:
        """Release every context that was made here, for a worker that leaves (R32)."""
        for context_id, context in list(self.contexts.items()):
            if context_id.created_on == self._here.me and context.is_open:
                self._contexts.release(context_id, self._here.let_end)
                self._drain()

    def is_empty(self) -> bool:
        """Say whether nothing is left of any context or pass."""
        return not self.contexts and not self.passes

    def _drained(self) -> list[Effect]:
        self._drain()
        return self._taken()

    def _drain(self) -> None:
        local = self._tables.local
        while local:
            body = local.popleft()
            self.handlers[type(body)](self._here.me, body)
