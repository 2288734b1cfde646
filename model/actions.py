"""What the actions of both protocols have in common, and what the network can do to a message of either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

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
