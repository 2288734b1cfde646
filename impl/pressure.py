"""Whoever calls a peer that takes nothing in, waits: what is queued for one peer has a limit.

Only the application waits, before it calls or creates. Answers and control messages never do: they are what others wait for,
and there are no more of them than these have asked for, or than the window of a channel allows (R7).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from farref.impl.errors import RpcTimeout
from farref.impl.ids import WorkerId

if TYPE_CHECKING:
    from farref.impl.worker import Worker


def wait_for_room(worker: Worker, target: WorkerId, timeout: float | None) -> None:
    """Wait until a peer has taken in enough of what is queued for it; raise `RpcTimeout` if it does not in time."""
    connection = worker.connections.get(target)
    if connection is None or not connection.is_full():
        return
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    worker.reactor.serve_until(lambda: connection.dead or not connection.is_full(), deadline)
    if connection.is_full() and not connection.dead:
        raise RpcTimeout(f"{worker.names[target]} has taken nothing in for {timeout} s, and too much is queued for it")
