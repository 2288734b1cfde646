"""A bell, which wakes the one thread that waits for it.

It is a lock that is free while the bell has been rung and nobody has heard it. An `Event` would wake any number of threads, and
takes a dozen functions of Python to do so. (A queue's `get` with a timeout may wait for ever when several threads share it, in
CPython 3.11.)
"""

from __future__ import annotations

import threading


class Bell:
    """Wakes whoever waits for it, now or the next time."""

    __slots__ = ("_silent", "thread")

    def __init__(self) -> None:
        self._silent = threading.Lock()
        self._silent.acquire()
        self.thread = threading.get_ident()
        """Who made it: most often the one that waits."""

    def ring(self) -> None:
        """Wake one thread. To ring again before it has heard means nothing more."""
        if self._silent.locked():
            try:  # noqa: SIM105 (which is faster)
                self._silent.release()
            except RuntimeError:
                pass  # somebody else has rung it

    __call__ = ring

    def hush(self) -> None:
        """Forget that it was rung."""
        self._silent.acquire(False)

    def wait(self, seconds: float) -> bool:
        """Wait until it is rung, or some seconds; -1 is for ever. Say whether it was rung. Then it is silent again."""
        return self._silent.acquire(timeout=seconds)
