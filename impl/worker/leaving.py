"""Shutdown, step by step, every wait bounded by one deadline (R32).

What still waits for an answer when the deadline has passed ends with an error that says so. It is no timeout: nobody waits
for the answer any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import WorkerTables, observe
from farref.impl.errors import NotRunning
from farref.impl.transport.frames import Reached, write_frame
from farref.impl.worker.connection import LATER
from farref.impl.worker.futures import Future
from farref.impl.worker.intake import SETTLED as SETTLED
from farref.impl.worker.worker import Worker

STOPPED, DRAINED = 1, 2
FAREWELL_S: Final = 0.5


def claim(worker: Worker) -> None:
    """Let one thread take a worker out of its world, and no other."""
    with worker.lock:
        if worker.leaving:
            raise NotRunning(f"{worker.names[worker.rank]} is being shut down already, by another thread")
        worker.leaving = True


def shut_down(worker: Worker, graceful: bool, timeout: float) -> tuple[WorkerTables, list[str]]:
    """Leave the world. Whatever goes wrong, this worker has left.

    What could not be released is in the tables returned; beside them is what had no answer.
    """
    try:
        _take_steps(worker, graceful, time.monotonic() + (timeout if graceful else 0.0))
    finally:
        left = _close(worker)
    return left


def _take_steps(worker: Worker, graceful: bool, deadline: float) -> None:
    _stop_accepting(worker)
    if graceful:
        _together(worker, STOPPED, deadline)
        worker.reactor.serve_until(lambda: _calls_are_drained(worker), deadline)
        _together(worker, DRAINED, deadline)
    _drop_handles(worker)
    if graceful:
        worker.reactor.serve_until(lambda: _is_settled(worker), deadline)
        _together(worker, SETTLED, deadline)


def _stop_accepting(worker: Worker) -> None:
    worker.closing = True


def _calls_are_drained(worker: Worker) -> bool:
    with worker.lock:
        worker.perform([])
        busy = worker.running or worker.calls or worker.fetches or worker.core.parking.all()
        return not busy


def _drop_handles(worker: Worker) -> None:
    """Let go of all that the application still holds; its handles are dead from now on (R26)."""
    with worker.lock:
        worker.perform([])
        worker.released = True
        worker.core.shut_down()
        worker.perform(worker.core.let_go_of_everything())
    worker.flush(hurry=LATER)


def _is_settled(worker: Worker) -> bool:
    with worker.lock:
        return worker.core.is_empty() and not any(c.outbox for c in worker.connections.values() if not c.dead)


def _together(worker: Worker, step: int, deadline: float) -> None:
    """Tell every peer that this step is done, and wait until all who live say the same."""
    with worker.lock:
        for peer, connection in worker.connections.items():
            if peer not in worker.core.dead:
                connection.queue(write_frame(Reached(step), []))
    worker.flush()

    def has_come(peer: WorkerId) -> bool:
        return peer in worker.core.dead or worker.reached.get(peer, 0) >= step

    everybody: Callable[[], bool] = lambda: all(has_come(peer) for peer in worker.connections)  # noqa: E731
    worker.reactor.serve_until(everybody, deadline)


def _close(worker: Worker) -> tuple[WorkerTables, list[str]]:
    worker.closed = True
    farewell = time.monotonic() + FAREWELL_S
    worker.reactor.serve_until(lambda: not any(c.outbox and not c.dead for c in worker.connections.values()), farewell)
    with worker.lock:
        left = observe(worker.core)
        unanswered = [future.what for future in list(_futures(worker)) if future.abandon()]
    worker.close()
    return left, unanswered


def _futures(worker: Worker) -> Iterator[Future]:
    """Give everything that somebody may wait for."""
    yield from (future for future, _, _ in worker.calls.values())
    yield from (future for future, _ in worker.fetches.values())
    yield from (future for future, _ in worker.waiters.values())
    yield from worker.passes.waiting.values()
