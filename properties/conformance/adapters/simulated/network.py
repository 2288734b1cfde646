"""The implementation's core on its simulated network, left to itself: messages arrive in an order that a seed draws.

Values are JSON, with `{"rref": n}` for the n-th fork of a message. Every function runs in a thread of its own. All else
happens under one lock, one step at a time, so what makes a run differ from another is the order of deliveries alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from random import Random
from typing import Any, Final, TypeAlias

import msgspec

from farref.impl.core.effects import (
    AnswerFetch,
    CompleteCall,
    CompleteFetch,
    Effect,
    FailCall,
    Failure,
    Outcome,
    RunCall,
    RunCreation,
    Value,
    WakeWaiter,
)
from farref.impl.core.ids import OwnedReference, Reference, WorkerId
from farref.impl.core.messages import CARRIERS, Control
from farref.impl.errors import ReferenceRefused, RefusedCall
from farref.impl.simulated.network import InFlight, Simulation

STEP_S: Final = 0.0005
RETRY_S: Final = 0.2
UNREADABLE: Final = b"?"

Key: TypeAlias = tuple[str, WorkerId, int]
RunFunction: TypeAlias = Callable[[WorkerId, str, list[Any], tuple[Reference, ...]], Any]


class FreeNetwork(Simulation):
    """A simulation that goes on by itself. `run` runs a function on a worker."""

    def __init__(self, workers: Sequence[str], seed: int, run: RunFunction) -> None:
        super().__init__(len(workers))
        self._names = list(workers)
        self.lock, self.closed = threading.RLock(), False
        self.wanted: dict[Key, Future[Any]] = {}
        """What somebody waits for: calls, fetches, and values of one's own."""
        self.faults: dict[tuple[WorkerId, str], list[tuple[str, float]]] = {}
        """What happens to the next messages of a kind that a worker sends."""
        self._sources: dict[Key, WorkerId] = {}
        self._late: dict[int, float] = {}
        self._random, self._run = Random(seed), run
        threading.Thread(target=self._go_on, daemon=True).start()

    def want(self, kind: str, worker: WorkerId, number: int, of: WorkerId | None = None) -> Future[Any]:
        """Wait for something, perhaps of another worker."""
        if of is not None:
            self._sources[kind, worker, number] = of
        return self.wanted.setdefault((kind, worker, number), Future())

    def settle(self, kind: str, worker: WorkerId, number: int, failed: bool, content: Any) -> None:
        """Give what somebody waits for, or will."""
        future = self.want(kind, worker, number)
        if failed:
            future.set_exception(read_failure(write_failure(content) if isinstance(content, Exception) else content))
        else:
            future.set_result(content)

    def kill(self, worker: WorkerId, reason: str | None = None) -> None:
        """Let a worker die. Nobody gets what it waits for, or what only it could give."""
        reason = reason or f"worker {self._names[worker]} was killed"
        super().kill(worker, reason)
        for key, future in list(self.wanted.items()):
            if worker in (key[1], self._sources.get(key)) and not future.done():
                future.set_exception(ConnectionError(reason))

    # -- deliveries ----------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        retried = time.monotonic()
        while not self.closed:
            time.sleep(STEP_S)
            with self.lock:
                flights = [one for one in self.in_flight() if self._late.get(one.id, 0) <= time.monotonic()]
                if flights:
                    self._meet(self._random.choice(flights))
                elif time.monotonic() - retried > RETRY_S:
                    retried = time.monotonic()
                    self._retry_all()

    def _retry_all(self) -> None:
        for worker in list(self.cores):
            for peer, number in self.unanswered(worker):
                self.retry(worker, peer, number)

    def _meet(self, flight: InFlight) -> None:
        """Let a message arrive, unless it meets with a fault."""
        message = flight.message.body if isinstance(flight.message, Control) else flight.message
        chosen = self.faults.get((flight.source, type(message).__name__))
        if not chosen or flight.id in self._late:
            self.deliver(flight.id)
            return
        kind, seconds = chosen.pop()
        self._late[flight.id] = time.monotonic() + seconds
        if kind == "duplicate":
            self.duplicate(flight.id)
        elif kind == "lose" and isinstance(flight.message, Control):
            self.drop(flight.id)
        elif kind == "lose":
            self.fail(flight.id)

    def arrive(self, flight: InFlight) -> None:
        """Let a message arrive, or be refused if nobody can read it."""
        message, core = flight.message, self.cores[flight.target]
        content: Any = None
        if isinstance(message, CARRIERS):
            if message.body == UNREADABLE:
                self.perform(flight.target, core.refuse(flight.source, message, "a value cannot be read"))
                return
            content = msgspec.json.decode(message.body or b"null")
        self.perform(flight.target, core.receive(flight.source, message, content))

    def after(self, seconds: float, step: Callable[[], Any]) -> None:
        """Take a step after a while."""

        def take() -> None:
            with self.lock:
                if not self.closed:
                    step()

        timer = threading.Timer(seconds, take)
        timer.daemon = True
        timer.start()

    # -- effects -------------------------------------------------------------------------------------------------------

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step of a worker asks for."""
        for effect in effects:
            match effect:
                case AnswerFetch(outcome=outcome):
                    failed, body = _written(outcome)
                    self.perform(worker, self.cores[worker].answer_fetch(effect, failed, (), body))
                case CompleteCall(call, failed, _, content):
                    self.settle("call", worker, call, failed, content)
                case FailCall(call, _, reason):
                    self.settle("call", worker, call, True, PermissionError(reason))
                case CompleteFetch(fetch, False, failed, _, content):
                    self.settle("fetch", worker, fetch, failed, content)
                case WakeWaiter(waiter, outcome):
                    self.settle("value", worker, waiter, isinstance(outcome, Failure), outcome.content)
                case RunCall() | RunCreation():
                    threading.Thread(target=self._run_here, args=(worker, effect), daemon=True).start()
                case _:
                    super().perform(worker, [effect])

    def _run_here(self, worker: WorkerId, run: RunCall | RunCreation) -> None:
        """Run a function, and let go of what it was given."""
        carrier = run.call if isinstance(run, RunCall) else run.creation
        outcome = self.outcome(worker, carrier.function, run.content, run.references)
        with self.lock:
            if self.closed or worker not in self.cores:
                return
            if isinstance(run, RunCreation):
                self.perform(worker, self.cores[worker].finish_function(run.creation.rref, outcome))
            else:
                failed, body = _written(outcome)
                self.perform(worker, self.cores[worker].reply(run.source, run.call.call, failed, (), body))
            for reference in run.references:
                self.let_go(worker, reference)

    def outcome(self, worker: WorkerId, function: str, args: Any, references: tuple[Reference, ...]) -> Outcome:
        """Run a function on a worker."""
        try:
            return Value(self._run(worker, function, args, references))
        except Exception as error:
            return Failure(error)

    def create_here(
        self, worker: WorkerId, function: str, args: list[Any], references: tuple[Reference, ...]
    ) -> OwnedReference:
        """Let a worker call `remote()` on itself. The function holds its arguments until it ends (R12)."""
        reference = self.create_on_self(worker)
        for one in references:
            self.cores[worker].calls.hold(one)

        def compute() -> None:
            outcome = self.outcome(worker, function, args, references)
            with self.lock:
                self.perform(worker, self.cores[worker].finish_function(reference.rref, outcome))
                for one in references:
                    self.let_go(worker, one)

        threading.Thread(target=compute, daemon=True).start()
        return reference

    @contextmanager
    def step(self) -> Iterator[None]:
        """Take a step for an application; what the core refuses is refused."""
        with self.lock:
            try:
                yield
            except (ReferenceRefused, RefusedCall) as error:
                raise PermissionError(str(error)) from error


def _written(outcome: Outcome) -> tuple[bool, bytes]:
    """Write an outcome: whether it is a failure, and its content. A value that cannot be written is one."""
    if isinstance(outcome, Failure):
        return True, msgspec.json.encode(write_failure(outcome.content))
    try:
        return False, msgspec.json.encode(outcome.content)
    except TypeError as error:
        return True, msgspec.json.encode(write_failure(error))


def write_failure(error: Any) -> Sequence[str]:
    """Write an error as JSON."""
    return [type(error).__name__, str(error)]


def read_failure(written: Sequence[str]) -> Exception:
    """Make an error of what was written: of the same name, and of the same kind if it is one of Python's own."""
    known: Mapping[str, type[Exception]] = {one.__name__: one for one in (PermissionError, ConnectionError, ValueError)}
    base = {"PeerDied": ConnectionError, "RefusedCall": PermissionError, "ReferenceRefused": PermissionError}
    kind = known.get(written[0]) or base.get(written[0]) or RuntimeError
    return kind(written[1])
