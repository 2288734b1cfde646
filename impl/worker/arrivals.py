"""What a frame does when it has been read: each kind of message has a method, which lets it take effect.

The thread with the role of reading is in here. Two exceptions: a message that a worker sends to itself arrives without
any stream, on the thread that sends it; and one that may run user code as it is read arrives on a thread that runs functions.

`Serving` says how much a worker does for each peer at once, and when it takes on no more (`spec/limits.md`). What counts is
all that has arrived from a peer and has not ended: calls and creations that run, or wait to, and fetches that wait for a value
or for room in the queue.
"""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never

from farref.impl.core.autograd.messages import UNHURRIED
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import (
    CARRIERS,
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Carrier,
    Control,
    CreateFailed,
    Excluded,
    FetchCall,
    FetchReturn,
    ForkRequest,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
)
from farref.impl.core.parking import weight
from farref.impl.errors import LimitReached, WireError
from farref.impl.limits import reached
from farref.impl.transport.frames import Acks, Heard, HungUp, Known, Reached, Returned, read_body

if TYPE_CHECKING:
    from farref.impl.core.effects import RunCall, RunCreation
    from farref.impl.worker.worker import Worker

ASKING: Final = (Call, RemoteCall, FetchCall, ForwardCall)
"""What asks for something, or may: what comes with a context may be an answer as well."""

CONFIRMING: Final = frozenset({ForkRequest, CreateFailed})
"""Their answers confirm a fork, and somebody waits for that (R5); any other may wait for company."""


class Arrivals:
    """Lets messages arrive at one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self.put_off: deque[tuple[WorkerId, Control]] = deque()
        """What has come of releases. Nobody waits for it, so it takes effect while this worker waits for others."""
        self._takers: Final[Mapping[type, Callable[[WorkerId, Any, memoryview | None], None]]] = {
            **dict.fromkeys(ASKING, self._take_asking),
            **dict.fromkeys((Return, FetchReturn), self._take_carrier),
            **dict.fromkeys((UserAccept, CallFailed, Ack, Excluded), self.arrive),
            Control: self._take_control,
            Acks: self._take_acks,
            **dict.fromkeys((Reached, Returned, Heard, HungUp, Known), self._take_word),
        }
        self._readers: Final[Mapping[type, Callable[[WorkerId, Any, memoryview | None], object]]] = {
            **dict.fromkeys(CARRIERS, worker.bodies.read),
            ForwardCall: worker.bodies.read_forward,
        }

    def take(self, source: WorkerId, body: bytes | memoryview, segments: memoryview | None) -> None:
        """Read a frame, and let what it says take effect."""
        message = read_body(body)
        self._takers[type(message)](source, message, segments)

    def _take_asking(self, source: WorkerId, message: Any, segments: memoryview | None) -> None:
        objection = self._worker.serving.objection(source, message)
        if objection is not None:
            self._refuse(source, message, objection)
        elif type(message) is FetchCall:
            self.arrive(source, message, None)
        elif type(message) is ForwardCall:
            self._take_forward(source, message, segments)
        else:
            self._take_carrier(source, message, segments)

    def _take_forward(self, source: WorkerId, message: ForwardCall, segments: memoryview | None) -> None:
        carried = message.message
        if type(carried) is not FetchCall and self._worker.bodies.may_run_code(carried.body):
            self._leave(source, message, segments)
        else:
            self.arrive(source, message, segments)

    def _take_carrier(self, source: WorkerId, message: Carrier, segments: memoryview | None) -> None:
        if self._worker.bodies.may_run_code(message.body):
            self._leave(source, message, segments)
        else:
            self.arrive(source, message, segments)

    def _leave(self, source: WorkerId, message: Carrier | ForwardCall, segments: memoryview | None) -> None:
        """Leave a message to whoever runs functions: to read it may run user code, and whoever reads for all must not."""
        with self._worker.lock:
            self._worker.begin(partial(self._arrive_later, source, message, segments))

    def _take_control(self, source: WorkerId, message: Control, _: object) -> None:
        if type(message.body) in UNHURRIED:
            self.put_off.append((source, message))
        else:
            self.let_in(source, message)

    def let_in(self, source: WorkerId, message: Control) -> None:
        """Let a control message take effect."""
        worker = self._worker
        with worker.lock:
            worker.perform(worker.core.receive(source, message))
        if type(message.body) in CONFIRMING:
            worker.lines.answer_now(worker.connections[source])

    def _take_acks(self, source: WorkerId, message: Acks, _: object) -> None:
        worker = self._worker
        with worker.lock:
            worker.perform([effect for answer in message.answers for effect in worker.core.receive(source, answer)])

    def _take_word(self, source: WorkerId, message: Reached | Returned | Heard | HungUp | Known, _: object) -> None:
        """Hear what is no part of the protocol."""
        worker = self._worker
        match message:
            case Reached(step):
                worker.reached[source] = step
                worker.membership.news.set()
            case Returned(places):
                worker.lending.take_back(source, places)
            case Heard(taken):
                worker.connections[source].hear(taken)
            case Known():
                with worker.lock:
                    worker.membership.note(source, message)
            case HungUp(reason):
                raise ConnectionAbortedError(f"it took {worker.names[worker.rank]} for dead: {reason}")
            case _:
                assert_never(message)

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
        """Let a message arrive that may run user code as it is read."""
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
        worker, read, content = self._worker, self._readers.get(type(message)), None
        try:
            if read is not None:
                content = read(source, message, segments)
        except WireError as error:
            with worker.lock:
                assert isinstance(message, Carrier | ForwardCall)
                if source not in worker.core.dead:
                    worker.perform(worker.core.refuse(source, message, str(error)))
            return
        with worker.lock:
            worker.perform(worker.core.receive(source, message, content))


class Serving:
    """What one worker does for others, and what it has asked of them."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._limits = limits = worker.settings.limits
        self._loads = worker.core.here.loads
        worker.core.here.references_max = limits.references_max
        worker.core.channel.window = limits.control_max

    def begin(self, run: RunCall | RunCreation) -> int:
        """Begin a function for a peer, and say how many bytes its call takes."""
        size = weight(run)
        self._loads[run.source].add(size)
        return size

    def objection(self, source: WorkerId, message: AnyMessage) -> str | None:
        """Say why a call, a creation or a fetch is too much, if it is. Not under the lock: a count may just change."""
        limits, load = self._limits, self._loads[source]
        if load.asked < limits.calls_max and load.bytes < limits.received_bytes_max:
            return None
        if type(message) is ForwardCall and type(message.message) not in ASKING:
            return None
        me = self._worker.names[self._worker.rank]
        if load.asked >= limits.calls_max:
            return reached(f"{me} does as much for one worker as it may", "calls_max", limits.calls_max)
        what = f"{me} keeps as much for the calls of one worker as it may"
        return reached(what, "received_bytes_max", limits.received_bytes_max)

    def too_much(self) -> LimitReached:
        """Say why this worker asks for no more: too much of it has no answer."""
        what = f"so many calls and fetches of {self._worker.names[self._worker.rank]} have no answer"
        return LimitReached(reached(what, "calls_max", self._limits.calls_max))
