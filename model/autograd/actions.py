"""Everything that can happen in a world of distributed autograd, one frozen dataclass each."""

from __future__ import annotations

from dataclasses import dataclass

from farref.model.actions import (
    Cut,
    Deliver,
    DropMessage,
    Duplicate,
    Exclude,
    FailCall,
    Happening,
    Install,
    Mend,
    OnMember,
    OnMessage,
    Retry,
)
from farref.model.autograd.ids import PairId, PassId
from farref.model.autograd.messages import ForwardCall, Message, PropagateGradients
from farref.model.ids import WorkerId, worker_name


@dataclass(frozen=True, slots=True)
class Choose(Happening):
    """A graph is chosen out of several: what the forward pass will record."""

    graph: int

    def __str__(self) -> str:
        return f"Choose(graph {self.graph})"


@dataclass(frozen=True, slots=True)
class OnPair(Happening):
    """A call is made, or returns."""

    pair: PairId

    def __str__(self) -> str:
        return f"{self.kind}(pair {self.pair})"


class SendTensors(OnPair):
    """A worker sends tensors that need a gradient."""


class SendDetached(OnPair):
    """A worker sends the same tensors with recording switched off (`no_grad`)."""


@dataclass(frozen=True, slots=True)
class Backward(Happening):
    """A worker calls `backward`."""

    worker: WorkerId

    def __str__(self) -> str:
        return f"Backward({worker_name(self.worker)})"


@dataclass(frozen=True, slots=True)
class TimeOut(Happening):
    """The caller of `backward` gives up."""

    number: PassId

    def __str__(self) -> str:
        return f"TimeOut(pass {self.number})"


@dataclass(frozen=True, slots=True)
class Crash(Happening):
    """A worker dies."""

    worker: WorkerId

    def __str__(self) -> str:
        return f"Crash({worker_name(self.worker)})"


@dataclass(frozen=True, slots=True)
class Notice(Happening):
    """A worker is told that another one is dead."""

    worker: WorkerId
    dead: WorkerId

    def __str__(self) -> str:
        return f"Notice({worker_name(self.worker)}, {worker_name(self.dead)} is dead)"


class Fence(OnMember):
    """An excluded worker learns that it is excluded, and takes no further step."""


@dataclass(frozen=True, slots=True)
class ReleaseContext(Happening):
    """The creator releases the context."""

    def __str__(self) -> str:
        return "ReleaseContext()"


class Raise(OnMessage[PropagateGradients]):
    """A gradient arrives, and the backward rule that takes it raises an exception."""


Befalling = (
    Deliver[Message] | Duplicate[Message] | DropMessage[Message] | Retry[Message] | Raise | FailCall[ForwardCall]
)
"""What can befall a message."""

Membership = Exclude | Install | Fence
"""What is done about views."""

Action = (
    Choose
    | SendTensors
    | SendDetached
    | Backward
    | TimeOut
    | ReleaseContext
    | Crash
    | Notice
    | Membership
    | Cut
    | Mend
    | Befalling
)
