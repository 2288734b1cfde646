"""What a message says of the autograd context it belongs to, apart from what it says of references.

A call of the program that carries a context is the same call inside a `ForwardCall` (A4). What it says of its context takes
effect first; then it arrives as any call does, or is refused as any call is that cannot be read (A9).
"""

from __future__ import annotations

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import FetchCall, FetchReturn, ForwardCall, RemoteCall, Wrapped
from farref.impl.core.tables import Tables
from farref.impl.errors import WireError


class Forwards(Tables):
    """What calls do to contexts, and deaths."""

    def _on_forward_call(self, source: WorkerId, message: ForwardCall, content: object) -> str | None:
        """Record what a call says of its context (A8), or say why it is refused (A9).

        What the tensors of its pair hang on, if it has one and could be read, is `content.node`.
        """
        check_minted(source, message.message)
        if message.forward.created_on != source or message.context.created_on not in self.workers:
            raise WireError(f"worker {source} claims to have made {message.forward} in {message.context}")
        node = getattr(content, "node", None)
        objection = self.engine.on_forward_call(source, message.context, message.forward, node)
        if objection is None and isinstance(message.message, FetchCall):
            self.fetching[source, message.message.fetch] = message.context
        return objection

    def _on_forward_failed(self, target: WorkerId, message: ForwardCall) -> None:
        """Account for a call of ours that will never arrive (A25). A value that failed is given again, in its context."""
        self.engine.call_failed(message.context, target)
        if isinstance(message.message, FetchReturn):
            self.fetching[target, message.message.fetch] = message.context

    def _on_death(self, peer: WorkerId) -> None:
        """Come out of the passes and contexts that only a dead peer could end (A21)."""
        self.fetching = {key: context for key, context in self.fetching.items() if key[0] != peer}
        self.engine.peer_died(peer)


def check_minted(source: WorkerId, message: Wrapped) -> None:
    """Refuse a creation under another worker's name, before anything of its message has taken effect (R2, R34)."""
    if isinstance(message, RemoteCall) and (message.rref.created_on != source or message.fork.created_on != source):
        raise WireError(f"worker {source} claims to have created {message.rref}")
