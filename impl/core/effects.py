"""What the core wants done, as values. The core performs nothing; the shell around it, or a test, performs each in order.

The order matters in one place: whatever a step sends comes before the user code that it starts (R18).
"""

from __future__ import annotations

from typing import final

from msgspec import Struct

from farref.impl.core.autograd.effects import EngineEffect
from farref.impl.core.ids import CallId, FetchId, ForkId, Reference, RRefId, WaiterId, WorkerId
from farref.impl.core.messages import AnyMessage, Call, RemoteCall


@final
class Value(Struct, frozen=True):
    """A result. The core keeps it and never looks into it."""

    content: object


@final
class Failure(Struct, frozen=True):
    """An error in place of a result: an entry that has one is ready all the same (R10)."""

    content: object


Outcome = Value | Failure


@final
class Send(Struct, frozen=True):
    """Give this message to the network."""

    target: WorkerId
    message: AnyMessage


@final
class RunCall(Struct, frozen=True):
    """Run the function of a call. Every fork among its arguments is confirmed (R16)."""

    source: WorkerId
    call: Call
    references: tuple[Reference, ...]
    content: object


@final
class RunCreation(Struct, frozen=True):
    """Run the function that computes an RRef's value, and report its end with `finish_function` (R23)."""

    source: WorkerId
    creation: RemoteCall
    references: tuple[Reference, ...]
    content: object


@final
class CompleteCall(Struct, frozen=True):
    """A call of ours has its result."""

    call: CallId
    failed: bool
    references: tuple[Reference, ...]
    content: object


@final
class FailCall(Struct, frozen=True):
    """A call of ours was refused, or could not be sent, and never ran; or it ran, and its result is refused here."""

    call: CallId
    target: WorkerId
    reason: str
    ran: bool = False


@final
class ReplyLost(Struct, frozen=True):
    """A result of ours could not be delivered; its forks are withdrawn, its caller still waits."""

    target: WorkerId
    call: CallId
    reason: str


@final
class AnswerFetch(Struct, frozen=True):
    """Write the value for this user, and give what was written to `answer_fetch`, at once or in a later step (R20)."""

    target: WorkerId
    rref: RRefId
    fork: ForkId
    fetch: FetchId
    outcome: Outcome


@final
class CompleteFetch(Struct, frozen=True):
    """A fetch of ours has ended. If the application gave up on it, the result is to be thrown away (R20)."""

    fetch: FetchId
    abandoned: bool
    failed: bool
    references: tuple[Reference, ...]
    content: object


@final
class WakeWaiter(Struct, frozen=True):
    """Code on this worker has waited for a value of its own: here it is (R23)."""

    waiter: WaiterId
    outcome: Outcome


@final
class Confirmed(Struct, frozen=True):
    """The owner counts this fork of ours (R31)."""

    fork: ForkId


@final
class DropValue(Struct, frozen=True):
    """Nobody can name this value any more (R22). It is here for the shell to end it, as that may run user code."""

    rref: RRefId
    outcome: Outcome | None = None


@final
class Lost(Struct, frozen=True):
    """This worker is excluded from now on: end what only it could end, hang up, and connect to it no more (R37)."""

    worker: WorkerId
    reason: str


@final
class Joined(Struct, frozen=True):
    """This worker is a member, and everybody knows it: it may be called (R44)."""

    worker: WorkerId


@final
class Fenced(Struct, frozen=True):
    """This worker has learned that it is excluded itself: everything that waits here for others ends (R38)."""

    worker: WorkerId
    reason: str


@final
class Suspected(Struct, frozen=True):
    """A member suspects a worker. Only the authority's host is told, and decides (R36)."""

    worker: WorkerId
    by: WorkerId
    reason: str


@final
class KeepAuthority(Struct, frozen=True):
    """Write this down before anything that follows is sent: it is what the authority goes on from if it is restarted (R35)."""

    state: bytes


MembersEffect = Lost | Joined | Fenced | Suspected | KeepAuthority

Effect = (
    Send
    | RunCall
    | RunCreation
    | CompleteCall
    | FailCall
    | ReplyLost
    | AnswerFetch
    | CompleteFetch
    | WakeWaiter
    | Confirmed
    | DropValue
    | MembersEffect
    | EngineEffect
)
