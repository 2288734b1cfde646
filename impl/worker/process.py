"""The one worker that this process is, while it is one."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from farref.impl.errors import NotRunning, RpcError

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

joining: Final = threading.Lock()
"""Held while this process joins a world, so that two threads cannot join two."""

_worker: Final[list[Worker]] = []


def current() -> Worker:
    """Find the worker that this process is."""
    if not _worker:
        raise NotRunning("RPC has not been initialised here: use launch() or init_rpc()")
    return _worker[0]


def check_idle() -> None:
    """Refuse to join a world while in one."""
    if _worker:
        raise RpcError("RPC is already initialised in this process")


def become(worker: Worker) -> None:
    """Be this worker from now on."""
    _worker.append(worker)


def be_nobody() -> None:
    """Be no worker any more."""
    _worker.clear()
