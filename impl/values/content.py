"""What was read of a message, before its forks take effect (R28)."""

from __future__ import annotations

from typing import Any

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.ids import Reference
from farref.impl.core.messages import ForwardCall
from farref.impl.errors import WireError
from farref.impl.rref import RRef
from farref.impl.tape.graph import Receive
from farref.impl.tape.tensors import Tensor
from farref.impl.values.tensors import attach


class Content:
    """A value that was read, and the handles in it that stand for no fork yet."""

    __slots__ = ("_forks", "context", "handles", "node", "size", "value")

    value: Any

    def __init__(self, forks: int = 0, size: int = 0) -> None:
        self._forks = forks
        self.size = size
        """How many bytes lay behind the body."""
        self.handles: dict[int, RRef] | None = None
        self.context: ContextId | None = None
        self.node: Receive | None = None

    def enter(self, forward: ForwardCall, tensors: list[Tensor]) -> None:
        """Belong to the context that the message carries, and hang the tensors on the recv of its pair (A7)."""
        if len(tensors) != forward.tensors:
            raise WireError(f"a call has a pair of {forward.tensors} tensors, and {len(tensors)} came")
        self.context, self.node = forward.context, attach(tensors)

    def adopt(self, index: int) -> RRef:
        """Make the handle for a fork of the message."""
        if index >= self._forks:
            raise WireError(f"a value refers to fork {index} of {self._forks}")
        if self.handles is None:
            self.handles = {}
        return self.handles.setdefault(index, RRef.unbound())

    def bind(self, worker: Any, references: tuple[Reference, ...]) -> Any:
        """Let the handles stand for what a worker took on. A fork that the value does not mention is let go."""
        if references:
            handles = self.handles or {}
            for index, reference in enumerate(references):
                (handles.get(index) or RRef.unbound()).adopt(worker, reference)
            handles.clear()
        return self.value
