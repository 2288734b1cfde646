"""What an implementation has to offer in order to be driven beside the model, one step at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS


class Refused(Exception):  # noqa: N818 (it says what happened)
    """A backend does not take a step that the model takes; the message says why not."""


@runtime_checkable
class FreeBackend(Protocol):
    """An implementation that runs whole programs by itself. Only what comes of them is judged.

    `terms` says how, in the words of a report. If it can take its runs again, `search` makes them shorter (`shrink.py`). If it
    draws what the model cannot, `draws` names the situations that have to be drawn.
    """

    @property
    def cannot(self) -> frozenset[str]:
        """The faults that never happen here."""

    def take(self, schedule: Any) -> Any:
        """Run the program of a schedule to its end, and say what it did and what was wrong."""

    def close(self) -> None:
        """Give back whatever was started."""


class Backend(Protocol):
    """An implementation of the protocol, held still between two steps.

    Nothing happens in it by itself: no message arrives, no function ends and no time passes unless an action says so.
    """

    restless: bool
    """Whether, from the next start on, it also does what the model calls nothing at all. Not every backend can."""

    @property
    def name(self) -> str:
        """The name by which the command line and the messages know it."""

    def start(self, bounds: Any) -> None:
        """Begin anew, with as many workers as the bounds say and nothing in any table."""

    def perform(self, action: Any) -> None:
        """Take the step that this action of the model stands for, completely. Whatever it raises is a disagreement."""

    def attempt(self, action: Any) -> bool:
        """Let the application try something that it should be refused; say whether it was let through."""

    def observe(self) -> Any:
        """Look at all tables, and at what is under way."""

    def close(self) -> None:
        """Give back whatever was started."""


MakeBackend = Callable[[], Backend | FreeBackend]


def protocol_for(make: MakeBackend, named: str | None) -> AnyProtocol:
    """Find the protocol that backends made so speak: the one that is named, or else the one the backend's class names."""
    name = named or getattr(make, "protocol", None)
    if name not in PROTOCOLS:
        known = " or ".join(f"protocol={one!r}" for one in PROTOCOLS)
        raise ValueError(f"{make} does not say which protocol it speaks; say {known}")
    return PROTOCOLS[name]
