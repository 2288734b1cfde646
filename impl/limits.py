"""Limits of what a peer, or the application itself, can make grow (`spec/limits.md`).

Where a limit is reached, what would exceed it is refused: a call before it is sent, a message before any reference in it is
taken on (R28). The error is `LimitReached`. It names the limit, its value and the setting. Control messages cannot be refused:
whoever sends so many of them that they alone would exceed a limit is declared dead, with that as the reason (R34).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from farref.impl.errors import LIMIT_REACHED, RpcError

MEBIBYTE: Final = 2**20
CONTROL_MOST: Final = 4096
"""The window that every receiver allows (R7)."""


class Limits(Struct, frozen=True):
    """How much of everything there may be. Each limit is for one worker, and where it says so for each of its peers."""

    queued_bytes_max: int = 64 * MEBIBYTE
    """Bytes that wait to be sent to one peer. Who calls it waits; functions that it called, and its fetches, wait too."""
    received_bytes_max: int = 512 * MEBIBYTE
    """Bytes of calls from one peer that have not ended."""
    calls_max: int = 2**16
    """Calls, creations and fetches of one peer that have not ended; and of this worker's own that have no answer."""
    references_max: int = 2**18
    """References that this worker holds; and those of its own values that one peer holds."""
    control_max: int = CONTROL_MOST
    """Control messages to one peer that have no answer. More wait here, and there are no more than references."""
    callbacks_max: int = 10_000
    """Callbacks of one future."""
    threads_max: int = 1024
    """Threads that run functions for others. A few more read, and stand by."""


NO_CHOICE: Final = Limits()
"""What there is where nobody chose."""

LEAST: Final = {"queued_bytes_max": 2**16, "received_bytes_max": 2**16, "threads_max": 4}
MOST: Final = {"control_max": CONTROL_MOST}


def check_limits(limits: object) -> None:
    """Refuse limits that cannot work."""
    if not isinstance(limits, Limits):
        raise RpcError(f"limits are Limits(...), and not {limits!r}")
    for name, value, least, most in _ranges(limits):
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or value < least
            or (most is not None and value > most)
        ):
            end = "or more" if most is None else f"to {most}"
            raise RpcError(f"{name} is a number, {least} {end}, and not {value!r}")


def _ranges(limits: Limits) -> Iterator[tuple[str, object, int, int | None]]:
    for name, value in asdict(limits).items():
        yield name, value, LEAST.get(name, 1), MOST.get(name)


def reached(what: str, setting: str, limit: float) -> str:
    """Say which limit was reached, what it is, and which setting it has."""
    return f"{LIMIT_REACHED}{what}: {setting} is {limit}"
