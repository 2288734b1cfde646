"""Other processes with a pipe to each: how they are started, asked and put down.

A process ends when its pipe does, however its parent ends, so none outlives it. What goes through a pipe is pickled here and
not by `multiprocess`, which would take several times as long. Whoever listens watches the pipe for a moment before it
sleeps, and lets others have its core meanwhile: to be woken takes longer than most answers do.

No Ctrl-C reaches such a process, from its first instruction on. A terminal sends the signal to all of a group, and a process
that is being started would die of it in the middle of an import, with a traceback. So it starts with the signal blocked, and
ignores it from then on. The parent, which decides what becomes of all, hears of the signal when everybody has been
started: half started ones it could not end.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import multiprocess  # type: ignore[import-untyped]
from multiprocess import resource_tracker

WATCH_S: Final = 0.0003


class ChildEnded(Exception):  # noqa: N818 (it says what happened)
    """A process has ended, or has been hung up on."""


class Child:
    """A process, started, with a pipe to it. It runs `serve` with the other end of the pipe, and what else it is given."""

    def __init__(self, context: Any, serve: Callable[..., object], *given: Any, daemon: bool = True) -> None:
        self._pipe, there = context.Pipe()
        self.process = context.Process(target=serve, args=(there, *given), daemon=daemon)
        self.process.start()
        there.close()

    def tell(self, said: object) -> None:
        """Send the process something."""
        try:
            tell(self._pipe, said)
        except OSError as error:
            raise ChildEnded from error

    def has_said_something(self, seconds: float) -> bool:
        """Wait for some time whether it says something; the end of it is something too."""
        try:
            return is_said_soon(self._pipe) or bool(self._pipe.poll(seconds))
        except OSError as error:
            raise ChildEnded from error

    def hear(self) -> Any:
        """Wait for the next that it says."""
        try:
            return hear(self._pipe)
        except (EOFError, OSError) as error:
            raise ChildEnded from error

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal, unless it has ended."""
        if self.process.exitcode is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def hang_up(self) -> None:
        """Let the process end, as soon as it next listens."""
        self._pipe.close()

    def end(self, seconds: float = 0.0) -> None:
        """Wait until the process has ended, and kill it if that takes longer than some time."""
        self.process.join(seconds)
        self.process.kill()
        self.process.join()


def start_children(
    serve: Callable[..., object], given: Iterable[tuple[Any, ...]], *, daemon: bool = True
) -> list[Child]:
    """Start a new process for each of what they are given."""
    context, children = multiprocess.get_context("spawn"), list[Child]()
    try:
        with undisturbed():
            children += (Child(context, serve, *one, daemon=daemon) for one in given)
    except BaseException:
        put_down(children, 0.0)
        raise
    return children


def put_down(children: Iterable[Child], seconds: float) -> None:
    """Let processes end, and kill those that take longer than some time each."""
    children = list(children)
    for child in children:
        child.hang_up()
    for child in children:
        child.end(seconds)


# -- at either end of a pipe -------------------------------------------------------------------------------------------


def tell(pipe: Any, said: object) -> None:
    """Say something."""
    pipe.send_bytes(pickle.dumps(said))


def hear(pipe: Any) -> Any:
    """Wait for the next that is said; EOFError if the other end is gone."""
    return pickle.loads(pipe.recv_bytes())


def is_said_soon(pipe: Any) -> bool:
    """Watch for a moment whether something is said; the end of the pipe is something too."""
    look, end = select.poll(), time.monotonic() + WATCH_S
    look.register(pipe, select.POLLIN)
    while not (said := look.poll(0)) and time.monotonic() < end:
        os.sched_yield()
    return bool(said)


def heard(pipe: Any) -> Iterator[Any]:
    """Hear one thing after the other until the other end is gone."""
    with suppress(EOFError, OSError):
        while True:
            is_said_soon(pipe)
            yield hear(pipe)


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


@contextmanager
def undisturbed() -> Iterator[None]:
    """Start processes in here."""
    resource_tracker.ensure_running()  # to start it later would let the signal through
    came: list[int] = []
    handler = _heard_by(lambda number, _: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _heard_by(handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def _heard_by(handler: Any) -> Any:
    """Let something else hear of the signal. The mask of one thread is not enough: another thread may get the signal.

    Only the main thread can say who hears of it, and only the main thread is interrupted.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return signal.signal(signal.SIGINT, handler) if is_main and handler is not None else None


def ignore_ctrl_c() -> None:
    """Leave it to the parent, in a process that was started so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
