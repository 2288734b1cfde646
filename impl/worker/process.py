"""The one worker that this process is, while it is one."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from farref.impl.errors import NotRunning, RpcError

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

joining: Final = threading.Lock()
"""Held while this process joins a world, so that two threads cannot join two."""

_worker: Final[list[Worker]] = []
_place: Final[list[int]] = []
"""A descriptor that says, as long as it is open, that the worker is there (`transport/places.py`)."""
_forked: Final[list[str]] = []
"""The worker that the parent of this process is, if this process was forked from one."""


def current() -> Worker:
    """Find the worker that this process is."""
    if _worker:
        return _worker[0]
    forked = f"this process is a fork of {_forked[0]}, and no worker itself: " if _forked else ""
    raise NotRunning(f"{forked}RPC has not been initialised here: use launch() or init_rpc()")


def here() -> Worker | None:
    """Find the worker that this process is, if it is one."""
    return _worker[0] if _worker else None


def check_idle() -> None:
    """Refuse to join a world while in one."""
    if _worker:
        raise RpcError("RPC is already initialised in this process")


def become(worker: Worker, place: int | None) -> None:
    """Be this worker from now on. `place` is what others see it by, in a folder."""
    _forked.clear()
    _worker.append(worker)
    if place is not None:
        _place.append(place)


def leave_place() -> None:
    """Let others see that this worker is about to leave."""
    while _place:
        os.close(_place.pop())


def be_nobody() -> None:
    """Be no worker any more."""
    _worker.clear()
    leave_place()


def be_forked(name: str) -> None:
    """Be no worker, but the copy of one. What its parent holds, the parent still holds."""
    be_nobody()
    _forked[:] = [name]
