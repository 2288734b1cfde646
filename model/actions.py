"""What can happen in a world of either protocol: to a message, to a link between two workers, and to a member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from farref.model.ids import WorkerId, worker_name
from farref.model.messages import kind_of

AnyMessage = TypeVar("AnyMessage", covariant=True)


class Happening:
    """Something that can happen in a world. Its text is its label; coverage is counted by its kind."""

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return type(self).__name__


@dataclass(frozen=True, slots=True)
class OnMessage(Happening, Generic[AnyMessage]):
    """Something that befalls a message."""

    message: AnyMessage

    @property
    def kind(self) -> str:
        """The name this action is counted under."""
        return f"{type(self).__name__} {kind_of(self.message)}"

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.message})"


class Deliver(OnMessage[AnyMessage]):
    """The network delivers a message."""


class Duplicate(OnMessage[AnyMessage]):
    """The network delivers a copy of a control message and keeps the original in flight."""


class DropMessage(OnMessage[AnyMessage]):
    """The network loses a control message."""


class Retry(OnMessage[AnyMessage]):
    """The sender of a control message that was not answered sends it again."""


class FailCall(OnMessage[AnyMessage]):
    """A user call cannot be sent, or not be understood; its sender is told."""


@dataclass(frozen=True, slots=True)
class OnLink(Happening):
    """Something happens to the link between two workers, and both live."""

    one: WorkerId
    other: WorkerId

    def __str__(self) -> str:
        return f"{self.kind}({worker_name(self.one)}, {worker_name(self.other)})"


class Cut(OnLink):
    """The link breaks."""


class Mend(OnLink):
    """The link is made again, in a new epoch (R36)."""


@dataclass(frozen=True, slots=True)
class OnMember(Happening):
    """Something is decided about a worker, or it does something about views."""

    worker: WorkerId

    def __str__(self) -> str:
        return f"{self.kind}({worker_name(self.worker)})"


class Exclude(OnMember):
    """The authority issues the next view, in which one more worker is excluded (R35). That worker may live, and goes on."""


class Install(OnMember):
    """A worker installs the next view (R37)."""
