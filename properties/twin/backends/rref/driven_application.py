"""The application in a worker's process, which does nothing but what the driver asks for.

Each method is one step. It uses the worker as any application does, with handles, futures and functions; only what the network
and the clock do is done here by hand. A step is over when the worker is at rest: no function runs, except those that compute
a value and were not told to end.
"""

from __future__ import annotations

import gc
import weakref
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from farref.impl import api
from farref.impl.core.effects import Effect
from farref.impl.core.ids import (
    CallId,
    FetchId,
    OwnedReference,
    Reference,
    SequenceNumber,
    UserReference,
    WaiterId,
    WorkerId,
)
from farref.impl.core.messages import Ack, AnyMessage, Call, Control, Excluded, FetchReturn, RemoteCall, Return
from farref.impl.core.observe import observe
from farref.impl.core.views import View
from farref.impl.functions import function
from farref.impl.rref import RRef
from farref.impl.worker.connection import LATER
from farref.impl.worker.futures import Future
from farref.impl.worker.worker import Worker
from farref.properties.twin.backends.driven_links import DrivenLinks
from farref.properties.twin.backends.held_core import Held, HeldCore, wait_until
from farref.properties.twin.backends.rref.network import Seen
from farref.properties.twin.backends.rref.views import AUTHORITY

FOR_EVER: Final = 0


class DrivenApplication(DrivenLinks):
    """An application that does one step at a time. It has handles, and functions that have not ended."""

    def __init__(self, worker: Worker, core: HeldCore) -> None:
        super().__init__(worker, core)
        self.handles: dict[Reference, list[RRef]] = defaultdict(list)
        self.unfinished: dict[int, Future] = {}
        self.prepared: RRef | None = None
        self.said: list[Ack] = []
        """The answers to what was said to the authority."""

    # About the steps

    def begin_anew(self) -> None:
        """Forget everything; the worker begins its next life."""
        self.repair()
        self.rest()
        self.core.workers.discard(AUTHORITY)
        self.handles.clear()
        self.unfinished.clear()
        self.prepared = None
        worker = self.worker
        with worker.lock:
            for table in (worker.calls, worker.fetches, worker.waiters, worker.creations, self.core.held):
                table.clear()
            gc.collect()  # no handle of this life may be let go in the next
            worker.dropped.clear()
            worker.running = 0
            self.core.begin_anew()

    def rest(self) -> None:
        """Wait until nothing goes on by itself."""
        wait_until(lambda: self.worker.running == len(self.unfinished), "a function does not end")
        while self.said:
            answered = Held(AUTHORITY, self.said.pop(), None)
            self._perform(partial(self.core.let_in, answered))
        with self.worker.lock:
            for connection in self.worker.connections.values():
                connection.gather()
        self.worker.flush(hurry=LATER)

    def told(self) -> tuple[list[Effect], Any]:
        """Tell what has happened since last asked, and what there is now."""
        with self.worker.lock:
            effects, self.core.effects = self.core.effects, []
            return effects, Seen(observe(self.core), set(self.core.user.parents), self.core.here.closing)

    def _perform(self, step: Callable[[], list[Effect]]) -> None:
        with self.worker.lock:
            self.worker.perform(step())

    # The network

    def deliver(self, source: WorkerId, message: AnyMessage) -> None:
        """Let a message arrive."""
        held = self._take(source, message)
        self._perform(lambda: self.core.let_in(held))

    def duplicate(self, source: WorkerId, message: AnyMessage) -> None:
        """Let a message arrive, and keep it."""
        held = self.core.await_message(source, message)
        self._perform(lambda: self.core.let_in(held))

    def lose(self, source: WorkerId, message: AnyMessage) -> None:
        """Let a message never arrive."""
        self._take(source, message)

    def refuse(self, source: WorkerId, message: RemoteCall | Call | Return | FetchReturn) -> None:
        """Let a message arrive that cannot be read (R28)."""
        self._take(source, message)
        self._perform(lambda: self.core.refuse(source, message, "not understood"))

    def fail(self, target: WorkerId, message: AnyMessage) -> None:
        """Hear that a message of ours will never arrive (R3)."""
        self._perform(lambda: self.core.carrier_failed(target, message, "it failed"))  # type: ignore[arg-type]

    def retry(self, peer: WorkerId, number: SequenceNumber) -> None:
        """Send a control message again (R6)."""
        self._perform(lambda: self.core.retry(peer, number))

    def _take(self, source: WorkerId, message: AnyMessage) -> Held:
        held = self.core.await_message(source, message)
        self.core.held.remove(held)
        return held

    # Views: the schedule is the authority, and says what becomes of every message (`views.py`)

    def obey_the_schedule(self) -> None:
        """Take views from the schedule, and leave streams to the excluded open: it decides what they still send."""
        worker, members = self.worker, self.core.members
        with worker.lock:
            members.hosted, members.authority = None, AUTHORITY
            self.core.workers.add(AUTHORITY)
        worker.membership.lose = keep_the_stream  # type: ignore[method-assign, assignment]
        worker.post = self._post  # type: ignore[method-assign]

    def _post(self, target: WorkerId, message: AnyMessage, segments: Any) -> None:
        """Say nothing to the authority, which has heard it, nor to the excluded that they are: that may get lost."""
        if target == AUTHORITY:
            assert isinstance(message, Control)
            self.said.append(Ack(message.incarnation, message.number))
        elif type(message) is not Excluded:
            Worker.post(self.worker, target, message, segments)

    def install(self, view: View) -> None:
        """Install a view (R37)."""
        self._perform(lambda: self.core.members.install(view))

    def bury(self, number: int) -> None:
        """Hear that a view is buried (R41, R42)."""
        self._perform(lambda: self.core.members.bury(number))

    def return_unasked(self, target: WorkerId, reference: Reference) -> None:
        """Return a reference to a worker that does not hear this one any more, and so cannot call for it."""
        forks, body, segments, _ = self.worker.bodies.write(self.handles[reference][0], target)
        with self.worker.lock:
            self.worker.perform(self.core.reply(target, CallId(0), forks=forks, body=body), segments)

    # The application

    def create_remote(self, owner: WorkerId, token: int) -> Reference:
        """Call `remote()`, on this worker or another."""
        return self._hold(self.worker.remote(owner, make, [token], {}, FOR_EVER))

    def create_local(self) -> Reference:
        """Wrap a value."""
        return self._hold(RRef(None))

    def finish_function(self, token: int) -> None:
        """Let the function end that computes a value."""
        self.unfinished.pop(token).set_result(None)

    def time_out_creation(self, reference: UserReference) -> bool:
        """Let a creation take too long (R27)."""
        with self.worker.lock:
            return self.core.user.time_out_creation(reference.fork)

    def share(self, target: WorkerId, reference: Reference) -> CallId:
        """Pass a reference to a function on a worker."""
        self.worker.call(target, keep, [self.handles[reference][0]], {}, FOR_EVER)
        with self.worker.lock:
            return max(self.worker.calls)

    def await_failure(self, call: CallId) -> None:
        """Wait until it is known that a call, which waited for an owner that is lost, will not run (R43)."""
        wait_until(lambda: call not in self.worker.calls, "nobody hears that a call has failed")

    def prepare_return(self, reference: Reference) -> None:
        """Prepare a reference for a worker that calls for it."""
        self.prepared = self.handles[reference][0]

    def call_for_prepared(self, source: WorkerId) -> None:
        """Call a function on a worker that returns what it has prepared."""
        future = self.worker.call(source, return_prepared, [], {}, FOR_EVER)
        future.call_when_done(lambda: self._receive(future))

    def await_call_for_prepared(self) -> None:
        """Wait until somebody has called for it."""
        wait_until(lambda: self.prepared is None, "nobody asks for what is prepared")

    def let_go(self, reference: Reference) -> None:
        """Drop a handle, and wait until it is gone: whoever ran with it may just be about to leave."""
        handles = self.handles[reference]
        gone = weakref.ref(handles.pop())
        wait_until(lambda: gone() is None, "a handle is kept")
        self._perform(list)

    def fetch(self, reference: UserReference) -> FetchId:
        """Ask for a value."""
        self.worker.fetch(reference, FOR_EVER)
        with self.worker.lock:
            return max(self.worker.fetches)

    def abandon_fetch(self, reference: UserReference, fetch: FetchId) -> None:
        """Give up on a value (R20)."""
        with self.worker.lock:
            self.worker.fetches[fetch][0].expire()
            self.core.user.abandon_fetch(reference.fork, fetch)

    def await_value(self, reference: OwnedReference) -> WaiterId:
        """Wait for a value of our own (R21)."""
        with self.worker.lock:
            return self.worker.await_value(reference, Future(self.worker.reactor))

    def shut_down(self) -> None:
        """Begin nothing new (R32)."""
        with self.worker.lock:
            self.core.shut_down()

    def _hold(self, handle: RRef) -> Reference:
        self.handles[handle.reference].append(handle)
        return handle.reference

    def _receive(self, future: Future) -> None:
        try:
            self._hold(future.value())
        except Exception as error:  # the result was lost or refused, and so was the reference in it
            error.__traceback__ = None  # it would keep the frames beneath, and what others hold there


def keep_the_stream(_peer: WorkerId, _reason: str) -> None:
    """Do nothing about a worker that is lost."""


_driven: Final[list[DrivenApplication]] = []
"""The application of this process: functions that are called from outside have no other way to it."""


AnyDriven = TypeVar("AnyDriven", bound=DrivenApplication)


def open_application(make: Callable[[Worker, HeldCore], AnyDriven]) -> AnyDriven:
    """Make the application of this process."""
    worker = api.current()
    core: Any = worker.core
    gc.freeze()  # what is here now stays, and need not be searched before each life
    driven = make(worker, core)
    _driven[:] = [driven]
    return driven


def this_application() -> DrivenApplication:
    """Give the application of this process."""
    return _driven[0]


@function
def make(token: int) -> Future:
    """Compute a value until told to end."""
    future = Future(_driven[0].worker.reactor)
    _driven[0].unfinished[token] = future
    return future


@function
def keep(rref: RRef) -> None:
    """Keep a handle."""
    _driven[0]._hold(rref)


@function
def return_prepared() -> RRef | None:
    """Return what is prepared."""
    prepared, _driven[0].prepared = _driven[0].prepared, None
    return prepared
