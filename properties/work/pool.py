"""A pool of processes that do units of work, with a pipe to each.

A thread for each process hands it a unit and waits for the answer. A process that dies loses its unit, which a new process does
again; a unit that ends several processes is not to be done.
"""

from __future__ import annotations

import pickle
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from farref.properties.processes import Child, ChildEnded, heard, ignore_ctrl_c, put_down, start_children, tell
from farref.properties.work.kept import release
from farref.properties.work.units import Workers

TRIES: Final = 3
"""So many processes may end over one unit."""

FAREWELL_S: Final = 3.0
"""So long a process may go on with its unit when the pool is put down."""

LOOK_S: Final = 0.2
PUT_DOWN: Final = "the processes were put down"

Result = TypeVar("Result")


class ProcessPool(Workers):
    """Some processes on this machine."""

    unit_seconds = 0.25

    def __init__(self, jobs: int) -> None:
        self._jobs, self._is_closed, self._lock = jobs, False, threading.Lock()
        self._children = start_children(_serve, [()] * jobs, daemon=False)
        self._idle = SimpleQueue[Child]()
        for child in self._children:
            self._idle.put(child)
        self._threads = ThreadPoolExecutor(jobs, "farref-pool")

    @property
    def count(self) -> int:
        """The processes."""
        return self._jobs

    def submit(self, work: Callable[..., Result], /, *given: Any, **named: Any) -> Future[Result]:
        """Let the next process that is idle do a unit."""
        return self._threads.submit(self._ask, pickle.dumps((work, given, named)))

    def _ask(self, unit: bytes) -> Any:
        child = self._idle.get()
        try:
            for _ in range(TRIES):
                with suppress(ChildEnded):
                    child.tell(unit)
                    result, error = self._heard(child)
                    break
                child = self._replaced(child)
            else:
                raise ChildProcessError(
                    f"each of {TRIES} processes that did this work has ended; what they said is above"
                )
        finally:
            self._idle.put(child)
        if error is not None:
            raise error
        return result

    def _heard(self, child: Child) -> Any:
        """Wait for an answer, unless all are put down: a pipe must not be closed while somebody reads from it."""
        while not child.has_said_something(LOOK_S):
            if self._is_closed:
                raise ChildProcessError(PUT_DOWN)
        return child.hear()

    def _replaced(self, ended: Child) -> Child:
        """Start a process in the place of one that has ended; but for the end of the pool, which ends them all."""
        with self._lock:
            if self._is_closed:
                raise ChildProcessError(PUT_DOWN)
            ended.end()
            [child] = start_children(_serve, [()], daemon=False)
            self._children[self._children.index(ended)] = child
            return child

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """End all processes, also in the middle of a unit."""
        with self._lock:
            self._is_closed = True
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        put_down(self._children, FAREWELL_S)


def _serve(pipe: Any) -> None:
    """Do one unit after the other, in another process."""
    ignore_ctrl_c()  # the parent hangs up
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            for unit in heard(pipe):
                tell(pipe, _answer(unit))
    finally:
        release()


def _answer(unit: bytes) -> tuple[Any, Exception | None]:
    try:
        work, given, named = pickle.loads(unit)
        return work(*given, **named), None
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        return None, _carried(error)


def _carried(error: Exception) -> Exception:
    """Give an error that can be sent: itself, or what it says."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
