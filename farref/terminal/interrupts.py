"""Ctrl-C at moments when it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
"""A polite kill is taken for Ctrl-C (`__main__.py`)."""


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C back until something is done. A second one is not: what is done may wait for a reader that never comes."""
    is_main = threading.current_thread() is threading.main_thread()
    heard = [one for one in SIGNALS if is_main and signal.getsignal(one) is signal.default_int_handler]
    came: list[int] = []

    def hear_again() -> None:
        for one in heard:
            signal.signal(one, signal.default_int_handler)

    def hold(number: int, _frame: Any) -> None:
        came.append(number)
        hear_again()

    for one in heard:
        signal.signal(one, hold)
    try:
        yield
    finally:
        hear_again()
    if came:
        raise KeyboardInterrupt


def ignore() -> None:
    """Ignore Ctrl-C from now on: all is done, and how it ended is known."""
    for one in SIGNALS:
        while signal.getsignal(one) is not signal.SIG_IGN:
            with suppress(KeyboardInterrupt):  # one that has just come
                signal.signal(one, signal.SIG_IGN)
