"""Every message of distributed autograd (clauses A4 to A6), named as PyTorch names them where PyTorch has a name.

`ForwardCall` runs user code, or answers it: the network neither loses nor repeats it, and where it fails its sender is told
(R4). All others are control messages: they may be lost and repeated, are sent again until answered, and take effect once
(R5 to R7). The acknowledgement that answers them belongs to that layer and is not modelled twice.

Four kinds are *counted*: each of them is followed by a `Report` to the root, which keeps a ledger of them (A14).

A message's fields say which one it is; what it carries besides stands at the end of this file (`Parcel`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from farref.model.autograd.ids import PairId, PassId
from farref.model.ids import WorkerId, worker_name
from farref.model.messages import AnsweringMessage


@dataclass(frozen=True, slots=True)
class AboutPair:
    """A message of a pass about one pair."""

    number: PassId
    pair: PairId

    def __str__(self) -> str:
        return f"{type(self).__name__}(pass {self.number}, pair {self.pair})"


@dataclass(frozen=True, slots=True)
class AboutWorker:
    """A message of a pass to or from one worker."""

    number: PassId
    worker: WorkerId

    def __str__(self) -> str:
        return f"{type(self).__name__}(pass {self.number}, {worker_name(self.worker)})"


class PropagateGradients(AboutPair):
    """Recv to send: the gradient of what was sent with this pair."""


class Mark(AboutPair):
    """Recv to send: a gradient will come for this pair, wait for it (SMART)."""


class Seek(AboutWorker):
    """Root to worker: mark what depends on the gradients you wait to send (SMART)."""


class Resume(AboutWorker):
    """Root to worker: no gradient comes for what is not marked (SMART)."""


Counted = PropagateGradients | Mark | Seek | Resume


class Report(AnsweringMessage[Counted]):
    """Worker to root: a counted message was processed; here is what it caused, or why it failed."""

    @property
    def number(self) -> PassId:
        """The pass it is about."""
        return self.of.number


class Commit(AboutWorker):
    """Root to worker: the pass ended well, let its gradients be seen."""


class Committed(AboutWorker):
    """Worker to root: they can be seen."""


class Abort(AboutWorker):
    """Root to worker: the pass is over, leave it."""


@dataclass(frozen=True, slots=True)
class ForwardCall:
    """Source to target: a call or a result with this context's id and these tensors."""

    pair: PairId

    def __str__(self) -> str:
        return f"ForwardCall(pair {self.pair})"


@dataclass(frozen=True, slots=True)
class Settled:
    """Closed worker to creator: this call arrived late, or one of mine failed; it is under way no more."""

    pair: PairId
    failed: bool = False

    def __str__(self) -> str:
        return f"Settled(pair {self.pair}{', failed' if self.failed else ''})"


@dataclass(frozen=True, slots=True)
class AboutContext:
    """A message about the release of the context, to or from one worker."""

    worker: WorkerId

    def __str__(self) -> str:
        return f"{type(self).__name__}({worker_name(self.worker)})"


class CleanupContext(AboutContext):
    """Creator to worker: close the context."""


class Closed(AboutContext):
    """Worker to creator: it is closed; these calls I sent, and these I got."""


class Forget(AboutContext):
    """Creator to worker: nothing of it is under way any more, forget its id."""


# -- what they carry ---------------------------------------------------------------------------------------------------


class Fault(IntEnum):
    """Why a pass fails."""

    NONE = 0
    RAISED = 1  # a backward rule raised an exception
    TIMED_OUT = 2  # the application gave up
    UNREACHED = 3  # FAST, and some send never gets a gradient
    BUSY = 4  # a worker is in a pass of another root
    RELEASED = 5  # a worker has no such context any more
    UNPAIRED = 6  # a gradient came for a send that was not recorded
    DIED = 7  # a worker that takes part, or the creator, was declared dead
    EXCLUDED = 8  # the root itself was excluded


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker tells the root of a counted message (A14)."""

    caused: frozenset[Counted] = frozenset()  # the messages it sent because of it
    expected: frozenset[PairId] = frozenset()  # the sends it waits for
    fault: Fault = Fault.NONE  # why it could not take part
    blamed: WorkerId | None = None  # the worker that the fault is about, if it is not the one that tells it


@dataclass(frozen=True, slots=True)
class Calls:
    """What a worker tells of its calls as it closes its context (A25)."""

    sent: frozenset[PairId]
    settled: frozenset[PairId]  # those it knows to be under way no more: received, or failed


Gradient = int
IsAttached = bool
"""Whether tensors need a gradient, so that both ends of the pair are recorded (A7)."""

Dead = frozenset[WorkerId]
"""The workers that the creator knows to be dead (A21)."""

Nothing = Literal[True]

CountedParcel = tuple[PropagateGradients, Gradient] | tuple[Mark | Seek | Resume, Nothing]
PassParcel = CountedParcel | tuple[Report, Told] | tuple[Commit | Committed | Abort, Nothing]
ContextParcel = (
    tuple[ForwardCall, IsAttached]
    | tuple[CleanupContext | Settled, Nothing]
    | tuple[Closed, Calls]
    | tuple[Forget, Dead]
)
Parcel = PassParcel | ContextParcel
"""A message and what it carries."""

Content = Gradient | IsAttached | Told | Calls | Dead

PassMessage = Counted | Report | Commit | Committed | Abort
ContextMessage = Settled | CleanupContext | Closed | Forget
Message = PassMessage | ContextMessage | ForwardCall
