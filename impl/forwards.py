"""Messages that belong to an autograd context, and what deaths do to contexts: on top of what messages do to references.

A call of the program that carries a context is the same call inside a `ForwardCall` (A4). What it says of its context takes
effect first; then it arrives as any call does, or it is refused as any call is that cannot be read (A9).
"""

from __future__ import annotations

from farref.impl.arrivals import Arrivals
from farref.impl.effects import AnswerFetch, Effect, Failure
from farref.impl.errors import ContextReleased, RefusedCall, WireError
from farref.impl.ids import WorkerId
from farref.impl.messages import (
    AnyMessage,
    Carrier,
    FetchCall,
    FetchReturn,
    ForwardCall,
    UserCall,
    Wrapped,
)
from farref.impl.tape.graph import Receive


class Forwards(Arrivals):
    """What messages do that carry a context."""

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Take one message in. What the tensors of its pair hang on, if it has one, is `content.node` (A8)."""
        if not isinstance(message, ForwardCall):
            return super().receive(source, message, content)
        if source in self.dead:
            return []
        objection = self._on_forward_call(source, message, getattr(content, "node", None))
        if objection is None:
            return super().receive(source, message.message, content)
        self._refuse_wrapped(source, message.message, ContextReleased(objection))
        return self._taken()

    def refuse(self, source: WorkerId, message: Carrier | ForwardCall, reason: str) -> list[Effect]:
        """Answer a carrier whose body could not be read. It has arrived all the same, and is accounted for (A25)."""
        if not isinstance(message, ForwardCall):
            return super().refuse(source, message, reason)
        self._on_forward_call(source, message, None)
        self._refuse_wrapped(source, message.message, RefusedCall(reason))
        return self._taken()

    def carrier_failed(self, target: WorkerId, message: UserCall, reason: str) -> list[Effect]:
        """Hear for certain that a user call of ours will never arrive; its context accounts for it (A25)."""
        if not isinstance(message, ForwardCall):
            return super().carrier_failed(target, message, reason)
        self.engine.call_failed(message.context, target)
        if isinstance(message.message, FetchReturn):
            self.fetching[target, message.message.fetch] = message.context
        return super().carrier_failed(target, message.message, reason)

    def peer_died(self, peer: WorkerId, reason: str) -> list[Effect]:
        """Declare a peer dead, and come out of the passes and contexts that only it could end (A21)."""
        is_news = peer not in self.dead and peer != self.me
        effects = super().peer_died(peer, reason)
        if is_news:
            self.fetching = {key: context for key, context in self.fetching.items() if key[0] != peer}
            self.engine.peer_died(peer)
        return effects + self._taken()

    def _on_forward_call(self, source: WorkerId, message: ForwardCall, node: Receive | None) -> str | None:
        """Record what a call says of its context, before anything else comes of it (A8); or say why it is refused (A9)."""
        if message.forward.created_on != source or message.context.created_on not in self.workers:
            raise WireError(f"worker {source} claims to have made {message.forward} in {message.context}")
        objection = self.engine.on_forward_call(source, message.context, message.forward, node)
        if objection is None and isinstance(message.message, FetchCall):
            self.fetching[source, message.message.fetch] = message.context
        return objection

    def _refuse_wrapped(self, source: WorkerId, message: Wrapped, error: RefusedCall | ContextReleased) -> None:
        """Refuse what a context came with. A fetch gets the error in place of the value."""
        if isinstance(message, FetchCall):
            self._emit(AnswerFetch(source, message.rref, message.fork, message.fetch, Failure(error)))
        else:
            self._refuse(source, message, str(error))
