"""The application of distributed autograd in a worker's process, which does nothing but what the driver asks for.

It is the driven application of RRefs, which lets messages in one by one, and more. A call that brings tensors runs a function
as any call does, which keeps them and does not end: so no result follows, of which the model's program says nothing. The work
of a task is done by the worker's threads, and a step is over when all of it is done.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.tables import Context
from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage, Excluded, ForwardCall
from farref.impl.core.views import ViewNumber
from farref.impl.functions import function, name_of
from farref.impl.tape import Tensor
from farref.impl.tape.passes import root_of
from farref.impl.worker.futures import Future
from farref.impl.worker.recording import using
from farref.impl.worker.worker import Worker
from farref.properties.twin.backends.autograd.seen import WorkerSeen, see
from farref.properties.twin.backends.autograd.tensors import Terms, WorkerTensors
from farref.properties.twin.backends.autograd.views import obey_the_schedule
from farref.properties.twin.backends.held_core import HeldCore
from farref.properties.twin.backends.rref.driven_application import (
    DrivenApplication,
    keep_the_stream,
    this_application,
)


class DrivenAutograd(DrivenApplication):
    """A program that does nothing but what the driver asks for. It has tensors, and the context."""

    def __init__(self, worker: Worker, core: HeldCore) -> None:
        super().__init__(worker, core)
        self.tensors = WorkerTensors()
        self._context: ContextId | None = None
        self._by_views = False

    # About the steps

    @property
    def context(self) -> ContextId:
        """The context that the program is about."""
        assert self._context is not None, "a program begins with its context"
        return self._context

    def enter_world(self, size: int, by_views: bool) -> None:
        """Forget everything; the worker begins its next life, in a world that may be smaller than the pool."""
        self.repair()
        self.core.workers = set(map(WorkerId, range(size)))
        self.begin_anew()
        self._by_views = by_views
        if by_views:
            self.obey_the_schedule()
        self.tensors, self._context = WorkerTensors(), None
        for connection in self.worker.connections.values():
            connection.dead = False  # the dead were dead in the life before

    def told(self) -> tuple[list[Effect], WorkerSeen]:
        """Tell what has happened since last asked, and what there is now."""
        with self.worker.lock:
            effects, self.core.effects = self.core.effects, []
            return effects, see(self.core, self._context, self.tensors)

    def open_context(self) -> ContextId:
        """Open the context, as its creator."""
        with self.worker.lock:
            return self.core.engine.open_context()

    def enter(self, context: ContextId) -> None:
        """Know which context the program is about."""
        self._context = context

    def acquaint(self) -> None:
        """Know the context although nobody has called."""
        with self.worker.lock:
            self.core.engine.contexts.setdefault(self.context, Context())

    # The program

    def send_tensors(self, target: WorkerId, pair: int, terms: Terms, attached: bool, decoy: bool) -> ForwardId:
        """Send tensors to a worker."""
        worker, name = self.worker, name_of(take)
        with worker.lock, using(self.context):
            passage = worker.passage_for(name)
            tensors = self.tensors.sent_with(pair, terms, decoy) if attached else []
            forks, body, segments, _ = worker.bodies.write_arguments([pair, tensors], {}, target, passage)
            _, effects = self.core.call(target, name, forks, body, passage)
            worker.perform(effects, segments)
        return next(forward for effect in effects if (forward := _forward(effect)) is not None)

    def begin_pass(self, terms: Terms, seed: int, smart: bool) -> PassId:
        """Begin a pass, and do not wait for it. Its tape is kept, as the next pass may use it again."""
        root = self.tensors.computed(terms, seed)
        seeds = (np.ones_like(root.data),)
        with self.worker.lock:
            pass_id, effects = self.core.engine.begin(self.context, root_of([root]), seeds, smart, True)
            self.worker.perform(effects)
        return pass_id

    def time_out(self, pass_id: PassId) -> None:
        """Let the time of a pass be up."""
        self._perform(lambda: self.core.engine.time_out(pass_id))

    def release_context(self) -> None:
        """Release the context."""
        self._perform(lambda: self.core.engine.release(self.context))

    def notice(self, dead: WorkerId) -> None:
        """Hear that a worker is dead."""
        self._perform(lambda: self.core.peer_died(dead, f"worker {dead} is dead"))

    # Views (`views.py`)

    def obey_the_schedule(self) -> None:
        """Take views from the schedule, and leave streams to the excluded open: it decides what they still send."""
        worker = self.worker
        with worker.lock:
            obey_the_schedule(self.core)
        worker.membership.lose = keep_the_stream  # type: ignore[assignment, method-assign]
        worker.post = self._post  # type: ignore[method-assign]
        worker.declare_dead = self._declare_dead  # type: ignore[method-assign]

    def _declare_dead(self, peer: WorkerId, reason: str, *, has_left: bool = False) -> None:
        """Wait for the view, where views decide (A29)."""
        if not self._by_views:
            Worker.declare_dead(self.worker, peer, reason, has_left=has_left)

    def fence(self, number: ViewNumber, reason: str) -> None:
        """Learn that this worker is excluded (R38)."""

        def learn() -> list[Effect]:
            self.core.members.on_excluded(self.core.me, Excluded(number, reason))
            return self.core.taken()

        self._perform(learn)
        with self.worker.lock:
            self.worker.closing = False  # the process is needed for the next run

    def deliver_raising(self, source: WorkerId, message: AnyMessage, pair: int) -> None:
        """Let a gradient arrive, at a pair whose backward rule then raises."""
        self.tensors.raising.add(pair)
        self.deliver(source, message)
        self.rest()
        self.tensors.raising.discard(pair)


def _forward(effect: Effect) -> ForwardId | None:
    is_call = isinstance(effect, Send) and isinstance(effect.message, ForwardCall)
    return effect.message.forward if is_call else None  # type: ignore[union-attr]


@function
def take(pair: int, tensors: list[Tensor]) -> Future:
    """Keep what came with a pair, and do not end."""
    driven: Any = this_application()
    driven.tensors.keep(pair, tensors)
    future = Future(driven.worker.reactor)
    driven.unfinished[pair] = future
    return future
