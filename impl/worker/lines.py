"""The lines of a worker to its peers: when what is queued for them leaves, and who waits if it is too much.

Of few calls and passes each leaves at once, as it may be urgent. Of more, some wait to leave in one write, which whoever reads
makes, now or next. The results of functions do the same.

What is queued for one peer has a limit. The application waits before it calls or creates. A function waits to begin while the
worker that called it takes nothing in: its result would only be queued. So does the answer to a fetch. No thread is held for
it. Everything else goes out at once: of control messages there are no more than the window of a channel allows (R7).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import BODIED, AnyMessage
from farref.impl.errors import QueueFull
from farref.impl.limits import reached
from farref.impl.values.codec import joined
from farref.impl.worker.connection import NOW, SOON, Connection

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

FEW_CALLS: Final = 8
BATCH: Final = 32
"""So many frames at most wait for each other."""


class Lines:
    """The connections of one worker."""

    def __init__(self, worker: Worker, connections: Mapping[WorkerId, Connection]) -> None:
        self._worker = worker
        self.connections = connections
        self._waiting: dict[WorkerId, deque[Callable[[], None]]] = {}
        """Calls and fetches of those who take nothing in."""
        self.to_self: deque[tuple[AnyMessage, list[memoryview] | None]] = deque()
        """Messages to oneself that have a body, and have not arrived."""

    # To oneself

    def post_to_self(self, message: AnyMessage, segments: list[memoryview] | None) -> None:
        """Send a message to oneself. One without a body arrives in this step, and one with a body after it (`deliver`)."""
        if isinstance(message, BODIED):
            self.to_self.append((message, segments))
        else:
            self._worker.arrivals.arrive(self._worker.rank, message, None)

    def deliver(self) -> None:
        """Let messages to oneself arrive. To read one may run user code: not under the lock."""
        while self.to_self:
            try:
                message, segments = self.to_self.popleft()
            except IndexError:  # another thread was faster
                return
            read = memoryview(bytearray(joined(segments))) if segments else None
            self._worker.arrivals.arrive(self._worker.rank, message, read)

    # Writing

    def hand_over(self, target: WorkerId, at_once: bool) -> None:
        """Write what is queued; or leave it to whoever reads next or now, who writes it together with what follows."""
        connection = self.connections.get(target)
        if connection is None or at_once or len(connection.outbox) >= BATCH:
            self.flush()
        elif self._worker.reactor.is_reading:
            self._rouse(connection)

    def has_few_to_write(self) -> bool:
        """Say whether little of what was begun here is under way, so that each frame of it may be urgent."""
        return len(self._worker.calls) + len(self._worker.passes.waiting) <= FEW_CALLS

    def answer_now(self, connection: Connection) -> None:
        """Let nothing that is queued for a peer wait any longer."""
        with self._worker.lock:
            connection.gather()
        connection.hurry = NOW

    def _rouse(self, connection: Connection) -> None:
        """Let whoever reads write, unless it was roused for that already."""
        if not connection.roused:
            connection.roused = True
            self._worker.reactor.rouse_reader()

    def write_results(self, at_once: bool = True) -> None:
        """Write what came of functions. What comes of several leaves in one write, by the next turn at the latest."""
        if at_once and not self._worker.reactor.is_busy:
            self.flush()
            return
        is_reading = self._worker.reactor.is_reading
        for connection in self.connections.values():
            if len(connection.outbox) >= BATCH:
                self.flush()
                return
            if is_reading and connection.outbox:
                self._rouse(connection)

    def flush(self, hurry: int = SOON) -> None:
        """Write what is queued for every peer and in such a hurry, or too much to wait: the peer could begin with it."""
        for connection in self.connections.values():
            if connection.returned:
                with self._worker.lock:
                    connection.give_back()
            if connection.hurry >= hurry or len(connection.outbox) >= BATCH:
                connection.flush()

    # Waiting

    def wait_for_room(self, target: WorkerId, timeout: float | None) -> None:
        """Wait until a peer has taken in enough of what is queued for it; raise `RpcTimeout` if it does not in time."""
        connection = self.connections.get(target)
        if connection is None or not connection.is_full():
            return
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        self._worker.reactor.serve_until(lambda: connection.dead or not connection.is_full(), deadline)
        if connection.is_full() and not connection.dead:
            name = self._worker.names[target]
            told = f"{name} has taken nothing in for {timeout} s, and too much is queued for it"
            raise QueueFull(reached(told, "queued_bytes_max", connection.queued_bytes_max))

    def too_much(self, connection: Connection) -> str:
        """Say why nothing more can be said to a peer."""
        told = f"it takes nothing in, and {connection.queued_bytes()} bytes wait for it"
        return reached(told, "queued_bytes_max", connection.queued_bytes_max)

    def must_wait(self, caller: WorkerId) -> bool:
        """Say whether a caller takes nothing in."""
        connection = self.connections.get(caller)
        return connection is not None and connection.is_full() and not connection.dead

    def keep(self, caller: WorkerId, task: Callable[[], None]) -> None:
        """Keep a call for later."""
        with self._worker.lock:
            self._waiting.setdefault(caller, deque()).append(task)

    def kept(self, caller: WorkerId) -> int:
        """Say how many calls of a caller are kept."""
        return len(self._waiting.get(caller, ()))

    def release(self) -> None:
        """Let calls begin whose callers take results in again, or are dead. Under the lock, with every tick."""
        for caller in list(self._waiting):
            connection = self.connections[caller]
            if connection.dead or not connection.is_full():
                for task in self._waiting.pop(caller):
                    self._worker.reactor.queue(task)
