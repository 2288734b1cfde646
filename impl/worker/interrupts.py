"""Ctrl-C is heard between the steps of a worker, and not within one.

Python raises `KeyboardInterrupt` in the main thread wherever that happens to be. Between taking a lock and the `try` that gives
it back, that locks a world for ever; in the middle of a step, it leaves tables half changed. So while the main thread is in the
shell (`uninterrupted`), an interrupt is only noted. It is raised as the thread leaves, and a thread that waits leaves soon.

User code that the main thread runs in there, a backward rule for example, can be interrupted as ever: it has a *window*
(`interruptible`). An interrupt that comes through it closes it, so that what follows is not interrupted once more.

A program, or a notebook for each of its cells, may set a handler of its own at any time. So whoever enters looks which one
there is, and puts a `Front` in front of it, which in the end calls it. A handler that does not raise lets a wait go on.
"""

from __future__ import annotations

import signal
import threading
from _signal import getsignal  # type: ignore[import-not-found]  # the public one takes longer than all the rest here
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

SIGINT: Final = int(signal.SIGINT)
_main: Final = threading.main_thread().ident
_get_ident: Final = threading.get_ident
CLOSED: Final = -1

Handler = Callable[[int, FrameType | None], Any]


class Uninterrupted:
    """How deep the main thread is in the shell, and whether it was interrupted there. Other threads are never interrupted."""

    __slots__ = ("depth", "pending", "window")

    def __init__(self) -> None:
        self.depth = 0
        self.window = CLOSED
        """The depth at which user code can be interrupted, if there is one."""
        self.pending = False
        """Whether the main thread is to leave soon."""

    def __enter__(self) -> None:
        if _get_ident() == _main:
            there = getsignal(SIGINT)
            # Where interrupts are ignored or end the process, they still do.
            if type(there) is not Front and callable(there):
                signal.signal(SIGINT, Front(there))
            self.depth += 1

    def __exit__(self, *_error: object) -> None:
        if _get_ident() == _main:
            self.depth -= 1
            if self.pending and (not self.depth or self.depth == self.window):
                self.pending = False
                getsignal(signal.SIGINT)(signal.SIGINT, None)

    def can_happen(self) -> bool:
        """Say whether this thread can be interrupted at all."""
        return _get_ident() == _main

    def is_interrupted(self) -> bool:
        """Say whether this thread is to leave soon."""
        return self.pending and _get_ident() == _main

    def heed(self) -> None:
        """Let an interrupt that was noted be heard now, where nothing is half done."""
        if self.pending and self.is_interrupted() and type(there := getsignal(SIGINT)) is Front:
            self.pending = False
            there.handler(SIGINT, None)


class Interruptible:
    """User code within the shell: the main thread can be interrupted in it, though not in what it calls of the shell."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        if _get_ident() == _main:
            self._before, uninterrupted.window = uninterrupted.window, uninterrupted.depth

    def __exit__(self, *_error: object) -> None:
        if _get_ident() == _main:
            uninterrupted.window = self._before


class Front:
    """Stands in front of a handler: calls it, or only notes the interrupt."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> Any:
        if uninterrupted.depth and uninterrupted.depth != uninterrupted.window:
            uninterrupted.pending = True
            return None
        uninterrupted.window = CLOSED
        return self.handler(number, frame)


uninterrupted: Final = Uninterrupted()
