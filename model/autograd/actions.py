"""Everything that can happen in a world of distributed autograd, one frozen dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from farref.model.autograd.ids import PairId, PassId, worker_name
from farref.model.autograd.messages import ForwardCall, Message, PropagateGradients, kind_of
from farref.model.ids import WorkerId


@dataclass(frozen=True, slots=True)
class Choose:
    """A graph is chosen out of several: what the forward pass will record."""

    graph: int

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "Choose"

    def __str__(self) -> str:
        return f"Choose(graph {self.graph})"


@dataclass(frozen=True, slots=True)
class OnPair:
    """A call is made, or returns."""

    pair: PairId

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return type(self).__name__

    def __str__(self) -> str:
        return f"{self.kind}(pair {self.pair})"


class SendTensors(OnPair):
    """A worker sends tensors that need a gradient."""

    __slots__ = ()


class SendDetached(OnPair):
    """A worker sends the same tensors with recording switched off (`no_grad`)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Backward:
    """A worker calls `backward`."""

    worker: WorkerId

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "Backward"

    def __str__(self) -> str:
        return f"Backward({worker_name(self.worker)})"


@dataclass(frozen=True, slots=True)
class TimeOut:
    """The caller of `backward` gives up."""

    number: PassId

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "TimeOut"

    def __str__(self) -> str:
        return f"TimeOut(pass {self.number})"


@dataclass(frozen=True, slots=True)
class Crash:
    """A worker dies."""

    worker: WorkerId

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "Crash"

    def __str__(self) -> str:
        return f"Crash({worker_name(self.worker)})"


@dataclass(frozen=True, slots=True)
class Notice:
    """A worker is told that another one is dead."""

    worker: WorkerId
    dead: WorkerId

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "Notice"

    def __str__(self) -> str:
        return f"Notice({worker_name(self.worker)}, {worker_name(self.dead)} is dead)"


@dataclass(frozen=True, slots=True)
class ReleaseContext:
    """The creator releases the context."""

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return "ReleaseContext"

    def __str__(self) -> str:
        return "ReleaseContext()"


@dataclass(frozen=True, slots=True)
class OnMessage:
    """Something that befalls a message."""

    message: Message

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return f"{type(self).__name__} {kind_of(self.message)}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.message})"


class Deliver(OnMessage):
    """The network delivers a message."""

    __slots__ = ()


class Duplicate(OnMessage):
    """The network delivers a copy of a control message and keeps the original in flight."""

    __slots__ = ()


class DropMessage(OnMessage):
    """The network loses a control message."""

    __slots__ = ()


class Retry(OnMessage):
    """The sender of a lost control message sends it again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Raise(OnMessage):
    """A gradient arrives, and the backward rule that takes it raises an exception."""

    message: PropagateGradients


@dataclass(frozen=True, slots=True)
class FailCall(OnMessage):
    """A call cannot be sent, or not be understood; its sender is told."""

    message: ForwardCall


Befalling = Deliver | Duplicate | DropMessage | Retry | Raise | FailCall
"""What can befall a message."""

Action = Choose | SendTensors | SendDetached | Backward | TimeOut | ReleaseContext | Crash | Notice | Befalling
