"""The shell around one core: real streams, threads and time.

Every step of the core is taken under one lock, and its effects are performed under it too: queueing a frame, completing a
future, handing out a function. None of these blocks or runs user code (`user_code`): values are written before the step that
sends them, and read before the one that takes them in. Frames are written after the lock is released. All
other locks, and their order, are in the table of this room (`__init__.py`).

Handles that were dropped wait in `dropped`, because a finalizer may run at any moment and must not take locks. They are let
go before the next step, and at the latest with the next tick.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVarTuple

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
from farref.impl.core.messages import Ack, AnyMessage, Control, Excluded
from farref.impl.errors import NotRunning, PeerDied, ReferenceRefused, UnknownWorker
from farref.impl.functions import Functions, name_for
from farref.impl.rref import RRef
from farref.impl.settings import Settings, WorkerInfo, checked_timeout, is_default
from farref.impl.transport.streams import Stream
from farref.impl.user_code import watched
from farref.impl.values.arena import Arena, Window
from farref.impl.values.bodies import Arguments, Bodies, taken
from farref.impl.values.tensors import Passage
from farref.impl.worker.answers import Answers
from farref.impl.worker.arrivals import Arrivals, Serving
from farref.impl.worker.connection import Connection
from farref.impl.worker.futures import Future
from farref.impl.worker.intake import Intake
from farref.impl.worker.interrupts import uninterrupted
from farref.impl.worker.lending import Lending
from farref.impl.worker.lines import Lines
from farref.impl.worker.membership import Membership
from farref.impl.worker.passes import Passes
from farref.impl.worker.perform import Performer, ToPerform
from farref.impl.worker.reactor import Reactor
from farref.impl.worker.recording import CURRENT, leaving

Given = TypeVarTuple("Given")
GONE: Final = "{} has left its world: what its RRefs referred to is gone"


class Worker:
    """One worker of a world, in this process."""

    def __init__(
        self,
        core: Core,
        names: Mapping[WorkerId, str],
        streams: Mapping[WorkerId, Stream | None],
        settings: Settings,
        arena: Arena | None = None,
        windows: Mapping[WorkerId, Window] = MappingProxyType({}),
    ) -> None:
        self.core = core
        core.tick(time.monotonic())
        self.rank, self.names = core.me, dict(names)
        self._ranks: dict[object, WorkerId] = {}
        for rank in sorted(names):
            self.know(rank)
        self.settings, self.arena, self.calls_max = settings, arena, settings.limits.calls_max
        self.functions = Functions(settings.allowed_modules, self.names[self.rank])
        self.lock, self.stepping = watched(threading.RLock(), "worker.lock"), threading.Lock()
        self.dropped: deque[Reference] = deque()
        self.calls: dict[CallId, tuple[Future, WorkerId, str]] = {}
        self.fetches: dict[FetchId, tuple[Future, UserReference]] = {}
        self.waiters: dict[WaiterId, tuple[Future, OwnedReference]] = {}
        self.creations: dict[ForkId, float] = {}
        self.reached: dict[WorkerId, int] = {}
        self.running = self._waited = 0
        self.leaving = self.closing = self.closed = self.released = False
        self.poller = poller = select.epoll()
        self.connections = {peer: self.new_connection(peer, stream, windows) for peer, stream in streams.items()}
        self.lines, self.serving = Lines(self, self.connections), Serving(self)
        self.flush: Final = self.lines.flush
        self.lending = Lending(self, windows)
        self.bodies = Bodies(self.lending, windows)
        self.arrivals = Arrivals(self)
        self.intake = Intake(self, poller)
        self.membership, self.performer = Membership(self), Performer(self)
        self.answers, self.passes = Answers(self), Passes(self)
        self.perform: Final = self.performer.perform
        self.reactor = Reactor(self.intake.turn, f"farref-{self.names[self.rank]}")
        poller.register(self.reactor.kick, select.EPOLLIN)

    def new_connection(
        self, peer: WorkerId, stream: Stream | None = None, windows: Mapping[WorkerId, Window] = MappingProxyType({})
    ) -> Connection:
        """Make a connection to a peer, over a stream or none yet."""
        made = Connection(stream, peer, self.poller, self.settings.frame_bytes_max, windows.get(peer))
        made.queued_bytes_max = self.settings.limits.queued_bytes_max
        return made

    def know(self, rank: WorkerId) -> None:
        """Let a worker be called by its rank and by its name, which another one may have had (R44)."""
        self._ranks.update(dict.fromkeys((self.names[rank], rank, self.info(rank)), rank))

    # What applications do

    def info(self, rank: WorkerId) -> WorkerInfo:
        """Describe a worker."""
        return WorkerInfo(self.names[rank], rank)

    def find(self, to: object) -> WorkerId:
        """Find a worker by name, rank or description."""
        try:
            return self._ranks[to]
        except (KeyError, TypeError):
            there = ", ".join(dict.fromkeys(self.names.copy().values()))
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
        if len(self.calls) + len(self.fetches) >= self.calls_max:
            raise self.serving.too_much()
        self.lines.wait_for_room(rank, limit)
        with uninterrupted:
            passage = self.passage_for(name)
            written = forks, body, segments, _ = self.bodies.write_arguments(given, named, rank, passage, name)
            with self.lock:
                if passage is not None or forks:
                    self.lending.check_again(rank, passage, written)
                call, effects = self.core.call(rank, name, forks, body, passage)
                self.calls[call] = (future, rank, name)
                self.perform(effects, segments)
            if rank == self.rank:
                self.lines.deliver()
            self.lines.hand_over(rank, bool(segments) or self.lines.has_few_to_write())
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
        self.lines.wait_for_room(rank, limit)
        with uninterrupted:
            passage = self.passage_for(name)
            if rank == self.rank:
                return self.performer.create_on_self(name, [given, named], passage)
            written = forks, body, segments, _ = self.bodies.write_arguments(given, named, rank, passage, name)
            with self.lock:
                self.lending.check_again(rank, passage, written)
                reference, effects = self.core.create_remote(rank, name, forks, body, passage)
                if limit is not None:
                    self.creations[reference.fork] = time.monotonic() + limit
                self.perform(effects, segments)
            self.lines.hand_over(rank, bool(segments))
            return RRef.unbound().adopt(self, reference)

    def create_local(self, handle: RRef, value: object) -> RRef:
        """Keep a value as an RRef, which a handle stands for from then on (R13)."""
        self._check(self.rank)
        with uninterrupted, self.lock:
            return handle.adopt(self, self.core.create_local(Value(value)))

    def fetch(self, reference: Reference, timeout: float | None) -> Future:
        """Ask for a value, here or elsewhere (R20, R21)."""
        owner = self.names[self.rank if isinstance(reference, OwnedReference) else reference.owner]
        future = Future(self.reactor, ("the value of ", reference.rref, " on ", owner), self.timeout_for(timeout))
        with uninterrupted:
            with self.lock:
                if isinstance(reference, OwnedReference):
                    self.await_value(reference, future)
                    return future
                self._check(reference.owner)
                if len(self.calls) + len(self.fetches) >= self.calls_max:
                    raise self.serving.too_much()
                fetch, effects = self.core.fetch(reference, self.passage_for("to_here"))
                self.fetches[fetch] = (future, reference)
                self.perform(effects)
            self.lines.hand_over(reference.owner, False)
        return future

    def await_value(self, reference: OwnedReference, future: Future) -> WaiterId:
        """Have a future wait for a value that is here, or will be (R21). Under the lock."""
        if self.closed:
            raise ReferenceRefused(GONE.format(self.names[self.rank]))
        self._waited += 1
        waiter = WaiterId(self._waited)
        self.waiters[waiter] = (future, reference)
        self.perform(self.core.await_value(reference, waiter))
        return waiter

    def passage_for(self, function: str) -> Passage | None:
        """Begin a call in the current context. Most often there is none, and nothing to record."""
        context = CURRENT.get()
        return None if context is None else leaving(self, context, function)

    def is_confirmed(self, reference: Reference) -> bool:
        """Say whether the owner counts a reference (R31)."""
        with uninterrupted, self.lock:
            return self.core.is_confirmed(reference)

    def _check(self, to: object) -> WorkerId:
        rank = self.find(to)
        if self.closed:
            raise NotRunning(GONE.format(self.names[self.rank]))
        if self.closing:
            self.core.here.check_fence()
            if threading.get_ident() not in self.performer.running:
                raise NotRunning(f"{self.names[self.rank]} is shutting down: nothing new begins (R32)")
        if rank in self.core.dead:
            raise PeerDied(self.core.dead[rank])
        return rank

    def timeout_for(self, timeout: float | None) -> float | None:
        """As PyTorch has it: none given, or -1, means the default; 0 means for ever."""
        chosen = self.settings.rpc_timeout if timeout is None or is_default(timeout) else checked_timeout(timeout)
        return chosen or None

    # Steps: under the lock

    def begin(self, task: Callable[[], None]) -> None:
        """Have a function run; `end` reports that it has."""
        self.running += 1
        self.reactor.queue(task)

    def end(self, step: Callable[[*Given], ToPerform], *given: *Given) -> None:
        """Take the step that a function's end is. `Lines.write_results` is to follow. Not under the lock."""
        with self.lock:
            self.running -= 1
            self.perform(*step(*given))
        if self.lines.to_self:
            self.lines.deliver()

    def declare_dead(self, peer: WorkerId, reason: str, *, has_left: bool = False) -> None:
        """Have a peer excluded that cannot take part any more (R36). Where nobody decides that, it is dead here (R34).

        Nobody decides it of one that has left as agreed (R32), as others may have left too."""
        with self.lock:
            text = f"worker {self.names[peer]} died: {reason}"
            if peer not in self.core.dead and (has_left or not self.membership.suspect(peer, text)):
                self.perform(self.core.peer_died(peer, text))
                self.membership.lose(peer, text)

    # Sending

    def post(self, target: WorkerId, message: AnyMessage, segments: list[memoryview] | None) -> None:
        """Queue a message."""
        if target == self.rank:
            self.lines.post_to_self(message, segments)
            return
        connection = self.connections.get(target) or self.membership.connection_to(target)
        if connection.dead:
            self.declare_dead(target, "its connection is broken")
            if target in self.core.dead and not isinstance(message, Control | Ack | Excluded):
                self.perform(self.core.carrier_failed(target, message, self.core.dead[target]))
        else:
            connection.post(message, segments)
            if connection.overfull:
                self.declare_dead(target, self.lines.too_much(connection))

    def close(self) -> None:
        """Hang up on everybody. If a function still runs, its thread ends with the process."""
        ended = self.reactor.stop()
        self.intake.close()
        for connection in self.connections.values():
            connection.close()
        if self.arena is not None:
            self.arena.close()
        if ended:
            self.poller.close()
            os.close(self.reactor.kick)
