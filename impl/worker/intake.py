"""What arrives at a worker: frames from its peers, and time. Only the thread with the role of reading is ever in here.

One exception: a message that a worker sends to itself arrives without any stream, on the thread that sends it.
"""

from __future__ import annotations

import os
import select
import socket
import time
import traceback
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import (
    BODIED,
    CARRIERS,
    AnyMessage,
    Carrier,
    Control,
    CreateFailed,
    FetchCall,
    ForkRequest,
    ForwardCall,
)
from farref.impl.errors import WireError
from farref.impl.transport.frames import Acks, Heard, HungUp, Reached, Returned, read_body
from farref.impl.transport.sealed import SealBroken
from farref.impl.worker.connection import NOW, SOON, Connection
from farref.impl.worker.report import Reporter
from farref.impl.worker.serving import ASKING
from farref.impl.worker.waiting import Waiting

if TYPE_CHECKING:
    from farref.impl.worker.mending import Mending
    from farref.impl.worker.worker import Worker

TICK_S: Final = 0.05
SETTLED: Final = 4
"""The last step that a peer says it has reached: nothing of it is missing then."""
CONFIRMING: Final = frozenset({ForkRequest, CreateFailed})
"""Their answers confirm a fork, and somebody waits for that (R5); any other may wait for company."""


class Intake:
    """Reads for one worker."""

    def __init__(self, worker: Worker, poller: select.epoll) -> None:
        self._worker, self._poller = worker, poller
        self._waiting = Waiting(poller)
        self._by_descriptor = {c.stream.fileno(): c for c in worker.connections.values() if not c.broken}
        self._next_tick = 0.0
        self.reporter: Reporter | None = None
        self.mending: Mending | None = None
        """Whoever makes streams again, if they can be."""

    def turn(self, seconds: float) -> None:
        """Read once, waiting up to some seconds, and handle all that came."""
        worker = self._worker
        now = time.monotonic()
        if now >= self._next_tick:
            self._tick(now)
        worker.flush()
        for descriptor, events in self._waiting.wait(seconds if seconds < TICK_S else TICK_S):
            connection = self._by_descriptor.get(descriptor)
            if connection is None:
                self._drain_kicks()
                continue
            if events & select.EPOLLOUT:
                connection.on_writable()
            if events & ~select.EPOLLOUT:
                self.read(connection)
        # Whoever is about to run functions writes when they have ended. If they take long, the lookout writes.
        worker.flush(hurry=NOW if worker.reactor.runs_next else SOON)

    def _drain_kicks(self) -> None:
        worker = self._worker
        with suppress(BlockingIOError):
            os.eventfd_read(worker.reactor.kick)
        # Before the turn writes, and not as it does: what it was roused for may have been written already.
        for connection in worker.connections.values():
            connection.roused = False
        if self.mending is not None:
            self.mending.look()

    def read(self, connection: Connection) -> None:
        """Take in what has come from a peer."""
        try:
            for body, segments in connection.frames():
                self.take(connection.peer, body, segments)
            if connection.owes_word():
                with self._worker.lock:
                    connection.say_heard(SOON)
        except (OSError, WireError) as error:
            self.lose(connection, error)
        except Exception as error:
            traceback.print_exc()
            self.lose(connection, error)

    def take(self, source: WorkerId, body: bytes | memoryview, segments: memoryview | None) -> None:
        """Read a frame, and let what it says take effect."""
        message, worker = read_body(body), self._worker
        if isinstance(message, ASKING) and (objection := worker.serving.objection(source, message)):
            self._refuse(source, message, objection)
        elif isinstance(message, BODIED):  # as most are
            if worker.bodies.may_run_code(message):
                with worker.lock:
                    worker.begin(partial(self._arrive_later, source, message, segments))
            else:
                self.arrive(source, message, segments)
        elif type(message) is Control:
            with worker.lock:
                worker.perform(worker.core.receive(source, message))
            if type(message.body) in CONFIRMING:
                self._answer_now(worker.connections[source])
        elif type(message) is Acks:
            with worker.lock:
                for answer in message.answers:
                    worker.perform(worker.core.receive(source, answer))
        elif type(message) is Reached:
            worker.reached[source] = message.step
        elif type(message) is Returned:
            worker.lending.take_back(source, message.places)
        elif type(message) is Heard:
            worker.connections[source].hear(message.taken)
        elif type(message) is HungUp:
            raise ConnectionAbortedError(f"it took {worker.names[worker.rank]} for dead: {message.reason}")
        else:
            self.arrive(source, message, None)

    def _refuse(self, source: WorkerId, message: AnyMessage, reason: str) -> None:
        """Refuse what is too much. Who does not even take refusals in is declared dead: they would be too much as well."""
        worker = self._worker
        with worker.lock:
            assert isinstance(message, Carrier | FetchCall | ForwardCall)
            if worker.lines.must_wait(source):
                worker.declare_dead(source, f"it takes nothing in and goes on calling; {reason}")
            else:
                worker.perform(worker.core.refuse(source, message, reason))

    def _arrive_later(self, source: WorkerId, message: AnyMessage, segments: memoryview | None) -> None:
        """Let a message arrive that may run user code as it is read. Whoever reads for all must not run any."""
        worker = self._worker
        try:
            self.arrive(source, message, segments)
        except Exception as error:
            if not isinstance(error, WireError):
                traceback.print_exc()
            worker.declare_dead(source, str(error))
        finally:
            worker.end(lambda: ([], None))
            worker.lines.write_results()

    def arrive(self, source: WorkerId, message: AnyMessage, segments: memoryview | None) -> None:
        """Read a message's body whole, then let the message take effect; or refuse it (R28).

        To read a body may run user code: not under the lock.
        """
        worker, content = self._worker, None
        try:
            if isinstance(message, CARRIERS):
                content = worker.bodies.read(source, message, segments)
            elif type(message) is ForwardCall:
                content = worker.bodies.read_forward(source, message, segments)
        except WireError as error:
            with worker.lock:
                assert isinstance(message, Carrier | ForwardCall)
                if source not in worker.core.dead:
                    worker.perform(worker.core.refuse(source, message, str(error)))
            return
        with worker.lock:
            worker.perform(worker.core.receive(source, message, content))

    def close(self) -> None:
        """Listen no more, and tell nothing more."""
        if self.mending is not None:
            self.mending.close()
        if self.reporter is not None:
            self.reporter.end()

    # Streams that end, and new ones

    def mend_with(self, mending: Mending) -> None:
        """Make streams again from now on."""
        self.mending = mending
        self._poller.register(mending.listener, select.EPOLLIN)

    def lose(self, connection: Connection, error: Exception) -> None:
        """Have a stream made again that broke (R36). One with bytes that are no frame ends its peer with it (R34)."""
        worker, peer = self._worker, connection.peer
        self._by_descriptor.pop(connection.stream.fileno(), None)
        is_broken = isinstance(error, OSError | SealBroken)
        if is_broken and self.mending is not None and not self._is_over(peer):
            self.mending.begin(connection, str(error))
            return
        connection.say_why(str(error))
        if self.mending is None or self._is_over(peer):
            connection.close()
        else:
            connection.leave_stream()
            worker.membership.refused.add(peer)
        worker.declare_dead(peer, str(error))

    def _is_half_broken(self, connection: Connection) -> bool:
        """Say whether a stream takes nothing any more, and is still read from."""
        return connection.broken and connection.stream.fileno() in self._by_descriptor

    def _is_over(self, peer: WorkerId) -> bool:
        """Say whether nothing more is missing of a peer, or of this worker."""
        worker = self._worker
        return worker.closed or peer in worker.core.dead or worker.reached.get(peer, 0) >= SETTLED

    def watch(self, connection: Connection) -> None:
        """Read from the stream that a connection has now. Some of it may have come already, and shows nowhere."""
        self._by_descriptor[connection.stream.fileno()] = connection
        if not isinstance(connection.stream, socket.socket):
            self.read(connection)

    def _tick(self, now: float) -> None:
        worker = self._worker
        with worker.lock:
            self._next_tick = now + TICK_S
            worker.perform(worker.core.tick(now))
            worker.lines.release()
            if worker.arena is not None and worker.arena.lost:
                worker.arena.take_back_from_ended()
            self._expire(now)
            worker.membership.tick(now)
            if worker.lines.to_self:
                worker.reactor.queue(worker.lines.deliver)
        for connection in list(worker.connections.values()):
            self._answer_now(connection)
            connection.forget()
            if connection.dead and connection.broken and not connection.closed:
                connection.close()
            elif self._is_half_broken(connection):
                self.read(connection)  # a peer that has left may have said so before
                if self._is_half_broken(connection):
                    self.lose(connection, BrokenPipeError("its stream takes nothing any more"))
        if self.mending is not None:
            self.mending.tick()
        if self.reporter is not None:
            self.reporter.tick(now)

    def _answer_now(self, connection: Connection) -> None:
        """Let nothing that is queued for a peer wait any longer."""
        with self._worker.lock:
            connection.gather()
        connection.hurry = NOW

    def _expire(self, now: float) -> None:
        """End what has taken too long, whether or not anybody waits for it (R27)."""
        worker = self._worker
        for future, _, _ in list(worker.calls.values()):
            future.expire_if_late(now)
        for fetch, (future, reference) in list(worker.fetches.items()):
            future.expire_if_late(now)
            if future.done():
                worker.core.user.abandon_fetch(reference.fork, fetch)
        for waiter, (future, own) in list(worker.waiters.items()):
            future.expire_if_late(now)
            if future.done():
                del worker.waiters[waiter]
                worker.perform(worker.core.stop_waiting(own, waiter))
        for fork in [fork for fork, deadline in worker.creations.items() if deadline <= now]:
            del worker.creations[fork]
            if fork in worker.core.user.records:
                worker.core.user.time_out_creation(fork)
