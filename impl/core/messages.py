"""Every message of the protocol, as it travels (R4, R5).

There are two families. *User calls* run user code or answer it: the transport delivers each at most once, or reports that it
never will (R3). *Control messages* keep the counts: they travel inside `Control`, which numbers them, are sent again until
answered, and take effect once (R6, R7). The set of tags is closed; a frame with any other is refused before anything runs.

`body` is what user code wrote, encoded. The protocol never looks into it. The forks that were written into it travel beside
it, so that a receiver can judge all of them before it takes on the first (R28).

`RemoteFailed` is no message here: the transport that could not send tells its own core (`Core.carrier_failed`).

Messages and effects are final classes. Where each of them passes, it is told apart by `type(message) is …`, and not by `match`,
which asks the same of every case, but takes five times as long to.
"""

from __future__ import annotations

from typing import Final, final

from msgspec import Struct

from farref.impl.core.autograd.ids import ContextId, ForwardId
from farref.impl.core.autograd.messages import EngineBody
from farref.impl.core.ids import CallId, FetchId, ForkData, ForkId, Incarnation, RRefId, SequenceNumber
from farref.impl.core.views import MembersBody, ViewNumber

Forks = tuple[ForkData, ...]
"""The forks that travel with one message."""


class Message(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What all messages have in common: they are values, travel as short arrays, and are in no cycle of references."""


@final
class RemoteCall(Message, frozen=True, tag=1):
    """Create an RRef: make the entry, count my fork, run this function (R10)."""

    rref: RRefId
    fork: ForkId
    function: str
    forks: Forks
    body: bytes


@final
class UserAccept(Message, frozen=True, tag=2):
    """Your fork is counted. Nothing is said of the value (R10)."""

    rref: RRefId
    fork: ForkId


@final
class Call(Message, frozen=True, tag=3):
    """Run this function; its arguments may carry forks (R14 to R19)."""

    call: CallId
    function: str
    forks: Forks
    body: bytes


@final
class Return(Message, frozen=True, tag=4):
    """The result of a call, or its error; it may carry forks too (R16)."""

    call: CallId
    failed: bool
    forks: Forks
    body: bytes


@final
class CallFailed(Message, frozen=True, tag=5):
    """I refused your message, and took on none of its forks: withdraw them (R28)."""

    call: CallId | None
    forks: Forks
    reason: str


@final
class FetchCall(Message, frozen=True, tag=6):
    """Send me the value when there is one (R20)."""

    rref: RRefId
    fork: ForkId
    fetch: FetchId


@final
class FetchReturn(Message, frozen=True, tag=7):
    """The value, or the error in its place (R20)."""

    rref: RRefId
    fork: ForkId
    fetch: FetchId
    failed: bool
    forks: Forks
    body: bytes


@final
class ForkRequest(Message, frozen=True, tag=1):
    """Count my fork (R16)."""

    rref: RRefId
    fork: ForkId


@final
class ChildAccept(Message, frozen=True, tag=2):
    """I am counted, or need not be; my parent may go (R17, R19). The fork named is the child's."""

    rref: RRefId
    fork: ForkId


@final
class UserDelete(Message, frozen=True, tag=3):
    """My fork is gone (R26)."""

    rref: RRefId
    fork: ForkId


@final
class CreateFailed(Message, frozen=True, tag=4):
    """My creation never reached you: keep this error as its value, and count my fork (R29)."""

    rref: RRefId
    fork: ForkId
    reason: str


RRefBody = ForkRequest | ChildAccept | UserDelete | CreateFailed
ControlBody = RRefBody | EngineBody | MembersBody


@final
class Control(Message, frozen=True, tag=8):
    """A control message with its number, and the lowest number its sender still waits for (R5, R7)."""

    incarnation: Incarnation
    number: SequenceNumber
    lowest: SequenceNumber
    body: ControlBody


@final
class Ack(Message, frozen=True, tag=9):
    """Your control message has taken effect, now or earlier (R5)."""

    incarnation: Incarnation
    number: SequenceNumber


@final
class Excluded(Message, frozen=True, tag=15):
    """I take nothing from you: you are excluded in this view (R38). It comes in place of an answer, once for what you send."""

    number: ViewNumber
    reason: str


Carrier = RemoteCall | Call | Return | FetchReturn
"""The messages that carry forks."""

CARRIERS: Final = (Call, Return, RemoteCall, FetchReturn)
"""The same, to ask of a message whether it is one."""

Wrapped = RemoteCall | Call | Return | FetchCall | FetchReturn
"""The messages of a program, which carry the context that they were sent in (A4)."""

WRAPPED: Final = (RemoteCall, Call, Return, FetchCall, FetchReturn)


@final
class ForwardCall(Message, frozen=True, tag=12):
    """A message of the program that belongs to a context; so many of its tensors are part of the pair (A4, A7)."""

    context: ContextId
    forward: ForwardId
    tensors: int
    message: Wrapped


UserCall = RemoteCall | UserAccept | Call | Return | CallFailed | FetchCall | FetchReturn | ForwardCall
"""The messages that arrive at most once, or are reported as failed (R3, R4)."""

AnyMessage = UserCall | Control | Ack | Excluded

BODIED: Final = (*CARRIERS, ForwardCall)
"""The messages that carry a value, or may."""
