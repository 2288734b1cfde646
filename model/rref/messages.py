"""Every message of the RRef protocol (clauses R4 to R7), named as PyTorch names them where PyTorch has a name.

There are two families. *User calls* run user code, which may not be repeated: the network neither loses nor duplicates
them, and where one could not be sent or understood its sender is told so (`RemoteFailed`, `CallFailed`). *Control messages*
keep the counts: they may be lost and duplicated, are sent again until answered by an `Ack`, and take effect once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from farref.model.messages import AnsweringMessage
from farref.model.rref.ids import ForkId, RRefId


@dataclass(frozen=True, slots=True)
class AboutFork:
    """What every message carries: the RRef and the fork it is about."""

    rref: RRefId
    fork: ForkId

    def __str__(self) -> str:
        return f"{type(self).__name__}(f{self.fork})"


class RemoteCall(AboutFork):
    """Creator to owner: run this function and keep its result under this RRefId; I hold this fork."""


class UserAccept(AboutFork):
    """Owner to creator: your fork is registered. Says nothing about the value (PyTorch's REMOTE_RET says both)."""


class RemoteFailed(AboutFork):
    """Transport to creator: your RemoteCall was not sent and never will be."""


class Call(AboutFork):
    """Parent to holder: a call whose arguments carry this fork."""


class Return(AboutFork):
    """Parent to holder: a call's result that carries this fork."""


class CallFailed(AboutFork):
    """Transport or receiver to parent: the message carrying this fork was not sent, or not understood; nobody has the fork."""


class FetchCall(AboutFork):
    """User to owner: send me the value (`to_here`)."""


class FetchReturn(AboutFork):
    """Owner to user: the value, or the error in its place."""


class ForkRequest(AboutFork):
    """Child to owner: I hold this fork, which a user shared with me; please count it."""


class ChildAccept(AboutFork):
    """Child to parent: the owner counts my fork; you may let go of yours."""


class UserDelete(AboutFork):
    """User to owner: I no longer hold this fork."""


class CreateFailed(AboutFork):
    """Creator to owner: my RemoteCall never left; keep an error under this RRefId, and count my fork."""


UserCall = RemoteCall | UserAccept | RemoteFailed | Call | Return | CallFailed | FetchCall | FetchReturn
Control = ForkRequest | ChildAccept | UserDelete | CreateFailed


class Ack(AnsweringMessage[Control]):
    """Receiver to sender: this control message has taken effect."""

    @property
    def fork(self) -> ForkId:
        """The fork the answered message was about."""
        return self.of.fork


Message = UserCall | Control | Ack

CONTROL: Final[tuple[type[Control], ...]] = get_args(Control)
USER_CALLS: Final[tuple[type[UserCall], ...]] = get_args(UserCall)


NUMBERS: Final = {kind: number for number, kind in enumerate((*CONTROL, *USER_CALLS))}
"""The number of each kind but acknowledgements, for tables indexed by kind: control messages first."""

KINDS_COUNT: Final = len(CONTROL) * 2 + len(USER_CALLS)


def control_number(message: Control) -> int:
    """Number the kinds of control message, for tables indexed by kind."""
    return NUMBERS[type(message)]


def kind_number(message: Message) -> int:
    """Number the kinds of all messages, control messages first and acknowledgements last."""
    if isinstance(message, Ack):
        return len(NUMBERS) + NUMBERS[type(message.of)]
    return NUMBERS[type(message)]


def message_of(kind: int, rref: RRefId, fork: ForkId) -> Message:
    """Give the message about a fork whose kind has a number: the inverse of `kind_number`."""
    first = (*CONTROL, *USER_CALLS)
    return first[kind](rref, fork) if kind < len(first) else Ack(CONTROL[kind - len(first)](rref, fork))
