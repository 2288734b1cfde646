"""What a worker reads: its streams, and the time. Only the thread with the role of reading is ever in here."""

from __future__ import annotations

import os
import select
import socket
import time
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.errors import WireError
from farref.impl.transport.lives import Started, is_ready
from farref.impl.transport.sealed import SealBroken
from farref.impl.worker.connection import NOW, SOON, Connection
from farref.impl.worker.report import Reporter
from farref.impl.worker.waiting import Waiting

if TYPE_CHECKING:
    from farref.impl.worker.mending import Mending
    from farref.impl.worker.worker import Worker

TICK_S: Final = 0.05
SETTLED: Final = 4
"""The last step that a peer says it has reached: nothing of it is missing then."""


class Intake:
    """Reads for one worker."""

    def __init__(self, worker: Worker, poller: select.epoll) -> None:
        self._worker, self._poller = worker, poller
        self._waiting = Waiting(poller)
        self._by_descriptor = {c.stream.fileno(): c for c in worker.connections.values() if not c.broken}
        self._next_tick, self._pace = 0.0, TICK_S
        self.reporter: Reporter | None = None
        self.mending: Mending | None = None
        """Whoever makes streams again, if they can be."""
        self.started = Started(poller)
        self.take: Final = worker.arrivals.take

    def turn(self, seconds: float) -> None:
        """Read once, waiting up to some seconds, and handle all that came."""
        worker = self._worker
        now = time.monotonic()
        if now >= self._next_tick:
            self._tick(now)
        worker.flush()
        if worker.arrivals.put_off:
            self._catch_up()
            worker.flush()
        came = self._waiting.wait(seconds if seconds < self._pace else self._pace)
        for descriptor, events in came:
            connection = self._by_descriptor.get(descriptor)
            if connection is None:
                self._hear(descriptor)
                continue
            if events & select.EPOLLOUT:
                connection.on_writable()
            if events != select.EPOLLOUT:
                self.read(connection)
        if came and self._pace > TICK_S and not self._is_at_rest():
            # What came waits for the next tick, not for a rare one.
            self._pace = TICK_S
            self._next_tick = min(self._next_tick, time.monotonic() + TICK_S)
        # Whoever is about to run functions writes when they have ended. If they take long, the lookout writes.
        worker.flush(hurry=NOW if worker.reactor.runs_next else SOON)

    def _hear(self, descriptor: int) -> None:
        """Hear that there is something to do, or that a process has ended."""
        ended = self.started.ended(descriptor)
        if ended is None:
            self._drain_kicks()
        else:
            self._end_with_process(ended)

    def _end_with_process(self, peer: WorkerId) -> None:
        """Take in what a worker sent before its process ended, and have it excluded."""
        connection = self._worker.connections.get(peer)
        while connection is not None and self.reads(connection) and is_ready(connection.stream.fileno()):
            self.read(connection)
        self._catch_up()
        self._worker.declare_dead(peer, "its process has ended", has_left=self._has_left(peer))

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
        except Exception as error:
            self._lose_over(connection, error)

    def _catch_up(self) -> None:
        """Let what was put off take effect: what was in a hurry has been done and said, and its answer is not there yet."""
        arrivals = self._worker.arrivals
        while arrivals.put_off:
            source, message = arrivals.put_off.popleft()
            connection = self._worker.connections.get(source)
            if connection is not None:
                try:
                    arrivals.let_in(source, message)
                except Exception as error:
                    self._lose_over(connection, error)

    def _lose_over(self, connection: Connection, error: Exception) -> None:
        """Lose a peer that has sent what is nothing, or whose stream is broken; show a mistake of our own."""
        if not isinstance(error, OSError | WireError):
            traceback.print_exception(error)
        self.lose(connection, error)

    def close(self) -> None:
        """Listen no more, and tell nothing more."""
        self.started.close()
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
        worker.declare_dead(peer, str(error), has_left=self._has_left(peer))

    def reads(self, connection: Connection) -> bool:
        """Say whether the stream that a connection has is read from: also one that takes nothing any more may be."""
        return connection.stream.fileno() in self._by_descriptor

    def _is_half_broken(self, connection: Connection) -> bool:
        return connection.broken and self.reads(connection)

    def _is_over(self, peer: WorkerId) -> bool:
        """Say whether nothing more is missing of a peer, or of this worker."""
        worker = self._worker
        return worker.closed or peer in worker.core.dead or self._has_left(peer)

    def _has_left(self, peer: WorkerId) -> bool:
        """Say whether a peer has said that it leaves, and that nothing is missing of it (R32)."""
        return self._worker.reached.get(peer, 0) >= SETTLED

    def watch(self, connection: Connection) -> None:
        """Read from the stream that a connection has now. Some of it may have come already, and shows nowhere."""
        self._by_descriptor[connection.stream.fileno()] = connection
        if not isinstance(connection.stream, socket.socket):
            self.read(connection)

    def _tick(self, now: float) -> None:
        worker = self._worker
        with worker.lock:
            worker.perform(worker.core.tick(now))
            worker.lines.release()
            if worker.arena is not None and worker.arena.lost:
                worker.arena.take_back_from_ended()
            self._expire(now)
            worker.membership.tick(now)
            if worker.lines.to_self:
                worker.reactor.queue(worker.lines.deliver)
            self._pace = min(2 * self._pace, worker.membership.rest_seconds()) if self._is_at_rest() else TICK_S
            self._next_tick = now + self._pace
        for connection in list(worker.connections.values()):
            worker.lines.answer_now(connection)
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
            self.reporter.tick(now, rests=self._pace > TICK_S)

    def _is_at_rest(self) -> bool:
        """Say whether nothing here waits for time to pass."""
        worker = self._worker
        waits = worker.calls or worker.fetches or worker.waiters or worker.creations or worker.passes.waiting
        if waits or worker.running or worker.dropped or worker.closing or worker.lines.to_self:
            return False
        if worker.arrivals.put_off or (self.mending is not None and self.mending.breaks):
            return False
        is_quiet = not any(
            connection.owes_something() or connection.broken for connection in worker.connections.values()
        )
        return is_quiet and next(worker.core.channel.unanswered(), None) is None

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
