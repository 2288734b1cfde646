"""The shell around one core: real streams, threads and time.

Every step of the core is taken under one lock, and its effects are performed under it too: queueing a frame, completing a
future, handing out a function. None of these blocks or runs user code. Frames are written after the lock is released.

Handles that were dropped wait in `dropped`, because a finalizer may run at any moment and must not take locks. They are let
go before the next step, and at the latest with the next tick.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from farref.impl.core.core import Core
from farref.impl.core.effects import Value
from farref.impl.core.ids import (
    CallId,
    FetchId,
    ForkId,
    OwnedReference,
    Reference,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.messages import Ack, AnyMessage, Control
from farref.impl.errors import NotRunning, PeerDied, ReferenceRefused, UnknownWorker, WireError
from farref.impl.functions import Functions, name_for
from farref.impl.rref import RRef
from farref.impl.settings import Settings, WorkerInfo, checked_timeout
from farref.impl.transport.streams import Stream
from farref.impl.values.arena import Arena, Window
from farref.impl.values.codec import joined
from farref.impl.values.reading import Reading
from farref.impl.values.writing import Arguments, Writing, taken
from farref.impl.worker.connection import SOON, Connection
from farref.impl.worker.futures import Future
from farref.impl.worker.intake import Intake
from farref.impl.worker.passes import Recorder
from farref.impl.worker.perform import Performer
from farref.impl.worker.pressure import Backlog, wait_for_room
from farref.impl.worker.reactor import Reactor

FEW_CALLS: Final = 8
BATCH: Final = 32
"""Of few calls each leaves at once, as it may be urgent. Of more, so many at most wait to leave in one write."""


class Worker:
    """One worker of a world, in this process."""

    def __init__(
        self,
        core: Core,
        names: Mapping[WorkerId, str],
        streams: Mapping[WorkerId, Stream],
        settings: Settings,
        arena: Arena | None = None,
        windows: Mapping[WorkerId, Window] = MappingProxyType({}),
    ) -> None:
        self.core = core
        core.tick(time.monotonic())
        self.rank = core.me
        self.names = dict(names)
        self._ranks: dict[object, WorkerId] = {
            key: rank for rank in names for key in (names[rank], rank, self.info(rank))
        }
        self.settings, self.arena = settings, arena
        self.functions = Functions(settings.allowed_modules, self.names[self.rank])
        self.lock, self.stepping = threading.RLock(), threading.Lock()
        self.dropped: deque[Reference] = deque()
        self.calls: dict[CallId, tuple[Future, WorkerId, str]] = {}
        self.fetches: dict[FetchId, tuple[Future, UserReference]] = {}
        self.waiters: dict[WaiterId, tuple[Future, OwnedReference]] = {}
        self.creations: dict[ForkId, float] = {}
        self.reached: dict[WorkerId, int] = {}
        self.running = self._waiters = 0
        self.closing = self.closed = self.released = False
        self.in_function = threading.local()
        self._poller = poller = select.epoll()
        self.connections = {
            peer: Connection(stream, peer, poller, settings.frame_bytes_max, windows.get(peer))
            for peer, stream in streams.items()
        }
        self.intake = Intake(self, poller)
        self.reading, self.writing = Reading(settings, windows), Writing(self)
        self.performer, self.recorder = Performer(self), Recorder(self)
        self.perform: Final = self.performer.perform
        self.backlog = Backlog(self)
        self.reactor = Reactor(self.intake.turn, f"farref-{self.names[self.rank]}")
        poller.register(self.reactor.kick, select.EPOLLIN)

    # What applications do

    def info(self, rank: WorkerId) -> WorkerInfo:
        """Describe a worker."""
        return WorkerInfo(self.names[rank], rank)

    def find(self, to: object) -> WorkerId:
        """Find a worker by name, rank or description."""
        try:
            return self._ranks[to]
        except (KeyError, TypeError):
            there = ", ".join(self.names.values())
            raise UnknownWorker(f"no worker of this world is called {to!r}; there are {there}") from None

    def call(
        self,
        to: object,
        target: Callable[..., Any] | str,
        args: Arguments,
        kwargs: Mapping[str, Any],
        timeout: float | None,
    ) -> Future:
        """Call a function on a worker."""
        rank, name = self._check(to), name_for(target)
        limit, (given, named) = self.timeout_for(timeout), taken(name, args, kwargs)
        future = Future(self.reactor, (name, " on ", self.names[rank]), limit)
        wait_for_room(self, rank, limit)
        with self.lock:
            passage = self.recorder.leaving(name)
            forks, body, segments = self.writing.write_arguments(given, named, rank, passage, name)
            call, effects = self.core.call(rank, name, forks, body, passage)
            self.calls[call] = (future, rank, name)
            self.perform(effects, segments)
        self._hand_over(rank, bool(segments) or len(self.calls) <= FEW_CALLS)
        return future

    def remote(
        self,
        to: object,
        target: Callable[..., Any] | str,
        args: Arguments,
        kwargs: Mapping[str, Any],
        timeout: float | None,
    ) -> RRef:
        """Call a function on a worker and leave its result there (R10, R12)."""
        rank, name = self._check(to), name_for(target)
        limit, (given, named) = self.timeout_for(timeout), taken(name, args, kwargs)
        wait_for_room(self, rank, limit)
        with self.lock:
            passage = self.recorder.leaving(name)
            if rank == self.rank:
                return self.performer.create_on_self(name, [given, named], passage)
            forks, body, segments = self.writing.write_arguments(given, named, rank, passage, name)
            reference, effects = self.core.create_remote(rank, name, forks, body, passage)
            if limit is not None:
                self.creations[reference.fork] = time.monotonic() + limit
            self.perform(effects, segments)
        self._hand_over(rank, bool(segments))
        return RRef.unbound().adopt(self, reference)

    def create_local(self, value: object) -> OwnedReference:
        """Keep a value as an RRef (R13)."""
        self._check(self.rank)
        with self.lock:
            return self.core.create_local(Value(value))

    def fetch(self, reference: Reference, timeout: float | None) -> Future:
        """Ask for a value, here or elsewhere (R20, R21)."""
        owner = self.names[self.rank if isinstance(reference, OwnedReference) else reference.owner]
        future = Future(self.reactor, ("the value of ", reference.rref, " on ", owner), self.timeout_for(timeout))
        with self.lock:
            if isinstance(reference, OwnedReference):
                if self.closed:
                    raise ReferenceRefused(self._gone())
                self._waiters += 1
                waiter = WaiterId(self._waiters)
                self.waiters[waiter] = (future, reference)
                self.perform(self.core.await_value(reference, waiter))
                return future
            self._check(reference.owner)
            fetch, effects = self.core.fetch(reference, self.recorder.leaving("to_here"))
            self.fetches[fetch] = (future, reference)
            self.perform(effects)
        self._hand_over(reference.owner, False)
        return future

    def is_confirmed(self, reference: Reference) -> bool:
        """Say whether the owner counts a reference (R31)."""
        with self.lock:
            return self.core.is_confirmed(reference)

    def _check(self, to: object) -> WorkerId:
        rank = self.find(to)
        if self.closed:
            raise NotRunning(self._gone())
        if self.closing and not getattr(self.in_function, "depth", 0):
            raise NotRunning(f"{self.names[self.rank]} is shutting down: nothing new begins (R32)")
        if rank in self.core.dead:
            raise PeerDied(self.core.dead[rank])
        return rank

    def _gone(self) -> str:
        return f"{self.names[self.rank]} has left its world: what its RRefs referred to is gone"

    def timeout_for(self, timeout: float | None) -> float | None:
        """As PyTorch has it: none given means the default, 0 means for ever."""
        chosen = self.settings.rpc_timeout if timeout is None else checked_timeout(timeout)
        return chosen or None

    # Steps: under the lock

    def begin(self, task: Callable[[], None]) -> None:
        """Have a function run; `end` reports that it has."""
        self.running += 1
        self.reactor.queue(task)

    def end(self, step: Callable[[Any], None], outcome: object) -> None:
        """Take the step that a function's end is. `write_results` is to follow."""
        with self.lock:
            self.running -= 1
            step(outcome)
            self.perform([])

    def write_results(self) -> None:
        """Write what came of functions. What comes of several leaves in one write, by the next turn at the latest."""
        if not self.reactor.is_busy or any(len(one.outbox) >= BATCH for one in self.connections.values()):
            self.flush(patient=True)

    def declare_dead(self, peer: WorkerId, reason: str) -> None:
        """End everything that only a dead peer could end; every error names it (R34)."""
        with self.lock:
            if peer in self.core.dead:
                return
            text = f"worker {self.names[peer]} died: {reason}"
            self.connections[peer].dead = True
            if self.arena is not None:
                self.arena.take_back_all(peer)
            self.perform(self.core.peer_died(peer, text))
            for call, (future, target, name) in list(self.calls.items()):
                if target == peer:
                    del self.calls[call]
                    future.set_exception(PeerDied(f"{name}: {text}"))

    # Sending

    def post(self, target: WorkerId, message: AnyMessage, segments: list[memoryview] | None) -> None:
        """Queue a message; one to oneself arrives at once, within the same step of the shell."""
        if target == self.rank:
            self.intake.arrive(target, message, memoryview(bytearray(joined(segments))) if segments else None)
            return
        connection = self.connections[target]
        if connection.dead:
            self.declare_dead(target, "its connection is broken")
            if not isinstance(message, Control | Ack):
                self.perform(self.core.carrier_failed(target, message, self.core.dead[target]))
        else:
            connection.post(message, segments)

    def _hand_over(self, target: WorkerId, at_once: bool) -> None:
        """Write what is queued; or leave it to whoever reads next or now, who writes it together with what follows."""
        connection = self.connections.get(target)
        if connection is None or at_once or len(connection.outbox) >= BATCH:
            self.flush(patient=True)
        elif self.reactor.is_reading and not connection.roused:
            connection.roused = True
            self.reactor.rouse_reader()

    def flush(self, patient: bool = False, hurry: int = SOON) -> None:
        """Write what is queued for every peer and in such a hurry, or too much to wait: the peer could begin with it."""
        for connection in self.connections.values():
            if connection.returned:
                with self.lock:
                    connection.give_back()
            if connection.hurry >= hurry or len(connection.outbox) >= BATCH:
                connection.flush(patient)

    def take_back(self, peer: WorkerId, places: Iterable[int]) -> None:
        """Have rooms back that a peer no longer looks at."""
        if self.arena is None:
            raise WireError("a peer returns memory that this worker never had")
        with self.lock:
            self.arena.take_back(peer, places)

    def close(self) -> None:
        """Hang up on everybody. If a function still runs, its thread ends with the process."""
        ended = self.reactor.stop()
        for connection in self.connections.values():
            connection.close()
        if self.arena is not None:
            self.arena.close()
        if ended:
            self._poller.close()
            os.close(self.reactor.kick)
