"""What the messages of both protocols have in common: some of them answer another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class AnsweringMessage(Generic[Asked]):
    """A message that answers another one."""

    of: Asked

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.of})"


def kind_of(message: object) -> str:
    """Name a message's kind, for coverage and diagrams. The kind of an answer names what it answers."""
    kind = type(message).__name__
    return f"{kind}({type(message.of).__name__})" if isinstance(message, AnsweringMessage) else kind
