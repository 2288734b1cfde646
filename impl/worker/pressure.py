"""What is queued for one peer has a limit, and whoever would add to it waits.

The application waits before it calls or creates. A function waits to begin while the worker that called it takes nothing in:
its result would only be queued. No thread is held for it. Everything else goes out at once. Control messages and answers to
fetches are what others wait for, and there are no more of them than the window of a channel allows (R7), or than others have
asked for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcTimeout

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


def wait_for_room(worker: Worker, target: WorkerId, timeout: float | None) -> None:
    """Wait until a peer has taken in enough of what is queued for it; raise `RpcTimeout` if it does not in time."""
    connection = worker.connections.get(target)
    if connection is None or not connection.is_full():
        return
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    worker.reactor.serve_until(lambda: connection.dead or not connection.is_full(), deadline)
    if connection.is_full() and not connection.dead:
        raise RpcTimeout(f"{worker.names[target]} has taken nothing in for {timeout} s, and too much is queued for it")


class Backlog:
    """Calls whose callers take nothing in. Those who run functions ask here first."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._waiting: dict[WorkerId, deque[Callable[[], None]]] = {}

    def must_wait(self, caller: WorkerId) -> bool:
        """Say whether a caller takes nothing in."""
        connection = self._worker.connections.get(caller)
        return connection is not None and connection.is_full() and not connection.dead

    def keep(self, caller: WorkerId, task: Callable[[], None]) -> None:
        """Keep a call for later."""
        with self._worker.lock:
            self._waiting.setdefault(caller, deque()).append(task)

    def release(self) -> None:
        """Let calls begin whose callers take results in again, or are dead. Under the lock, with every tick."""
        for caller in list(self._waiting):
            connection = self._worker.connections[caller]
            if connection.dead or not connection.is_full():
                for task in self._waiting.pop(caller):
                    self._worker.reactor.queue(task)
