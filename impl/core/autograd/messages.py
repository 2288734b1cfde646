"""The control messages of distributed autograd, as they travel (A5, A6). `ForwardCall` is with the calls it carries.

They share the numbering, the retries and the single effect of the control messages of RRefs (R6, R7), and their tags.
A `Report` names counted messages by kind, call and receiver (`Counted`). It has the sends that its task waits for when they
are news: with the first report, and when some were given up.

Calls are accounted for by number, as A6 allows: how many from whom to whom.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, final

from msgspec import Struct

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.ids import WorkerId


class _Body(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What all of them have in common: they are values, travel as short arrays, and are in no cycle of references."""


class Kind(IntEnum):
    """The counted messages (A1), and the beginning of a pass, which its root sends to itself."""

    BEGIN = 0
    GRADIENTS = 1
    MARK = 2
    SEEK = 3
    RESUME = 4


class Counted(_Body, frozen=True):
    """A message that the root keeps account of, by name: `forward` for the first two kinds, the worker it goes to for all."""

    kind: Kind
    worker: WorkerId
    forward: ForwardId | None = None


class Cause(IntEnum):
    """Why a pass failed (A18)."""

    RAISED = 1
    TIMED_OUT = 2
    UNREACHED = 3
    BUSY = 4
    RELEASED = 5
    UNPAIRED = 6
    DIED = 7


class Fault(_Body, frozen=True):
    """Why a pass failed, which worker it is about, and more in words; for RAISED a written error (spec/wire.md, Errors)."""

    cause: Cause
    worker: WorkerId
    detail: str = ""
    error: bytes = b""


class Waits(_Body, frozen=True):
    """A send that a task waits for, and the function it was a call of: FAST names it if nothing ever comes (A15)."""

    forward: ForwardId
    function: str


@final
class PropagateGradients(_Body, frozen=True, tag=5):
    """The gradients of a pair, for its send; nil for a tensor that has none (A13, A22)."""

    pass_id: PassId
    forward: ForwardId
    body: bytes


@final
class Mark(_Body, frozen=True, tag=6):
    """A gradient will come for this send (A16)."""

    pass_id: PassId
    forward: ForwardId


@final
class Seek(_Body, frozen=True, tag=7):
    """Mark what depends on gradients that have come to you (A16)."""

    pass_id: PassId


@final
class Resume(_Body, frozen=True, tag=8):
    """Give up the sends that are not marked (A16)."""

    pass_id: PassId


@final
class Report(_Body, frozen=True, tag=9):
    """A counted message was processed, and this came of it (A14); or a fault (A18)."""

    pass_id: PassId
    processed: Counted
    caused: tuple[Counted, ...]
    waits: tuple[Waits, ...] | None
    fault: Fault | None


@final
class Commit(_Body, frozen=True, tag=10):
    """The pass has ended well: let its gradients be seen (A17)."""

    pass_id: PassId


@final
class Committed(_Body, frozen=True, tag=11):
    """They can be seen here (A17)."""

    pass_id: PassId


@final
class Abort(_Body, frozen=True, tag=12):
    """The pass is over: drop what was kept aside (A18)."""

    pass_id: PassId


@final
class CleanupContext(_Body, frozen=True, tag=13):
    """Close this context (A24)."""

    context: ContextId


@final
class Closed(_Body, frozen=True, tag=14):
    """It is closed here: the calls I sent, those I received, and those of mine that failed, by worker (A25)."""

    context: ContextId
    sent: dict[WorkerId, int]
    got: dict[WorkerId, int]
    failed: dict[WorkerId, int]


@final
class Settled(_Body, frozen=True, tag=15):
    """One more call has arrived, or has failed (A25)."""

    context: ContextId
    source: WorkerId
    target: WorkerId


@final
class Forget(_Body, frozen=True, tag=16):
    """No call of this context is under way: forget it; and take these workers for dead (A21, A25)."""

    context: ContextId
    dead: tuple[WorkerId, ...]


@final
class Begin(Struct, frozen=True):
    """Let the root's gradients in: what a root says to itself first. It never travels (A10)."""

    pass_id: PassId


CountedBody = PropagateGradients | Mark | Seek | Resume
"""The messages that a task processes."""

PassBody = CountedBody | Report | Commit | Committed | Abort
ReleaseBody = CleanupContext | Closed | Settled | Forget
EngineBody = PassBody | ReleaseBody

UNHURRIED: Final = (CleanupContext, Closed, Settled, Forget)
"""The messages of a release. Nobody waits for it, so they may wait for something to ride with (A25)."""


def counted(body: CountedBody, worker: WorkerId) -> Counted:
    """Name a counted message that goes to a worker."""
    match body:
        case PropagateGradients(forward=forward):
            return Counted(Kind.GRADIENTS, worker, forward)
        case Mark(forward=forward):
            return Counted(Kind.MARK, worker, forward)
        case Seek():
            return Counted(Kind.SEEK, worker)
        case Resume():
            return Counted(Kind.RESUME, worker)
