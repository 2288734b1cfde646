"""Starting processes that no Ctrl-C reaches, from their first instruction on.

A terminal sends the signal to all of a group. A process that is being started would die of it in the middle of an import, with
a traceback. So it starts with the signal blocked, and ignores it from then on. The parent, which decides what becomes of all,
hears of the signal when everybody has been started: half started ones it could not end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from multiprocess import resource_tracker  # type: ignore[import-untyped]


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
