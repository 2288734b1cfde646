"""Code of the application runs under no lock, and debug mode asserts it.

User code is more than the functions that are called: callbacks, hooks, backward rules, `__reduce__` and `__setstate__` of a
pickled value, `__str__` of an error, the finalizer of a value. Any of it may call another worker and wait for the answer. Under
a lock that would stop the whole worker, and nobody would see why.

So each place where user code begins says so (`entering`), and each lock is made by `watched`. With `FARREF_DEBUG=1` in the
environment a lock then knows which threads have it, and to enter user code with one is an `AssertionError`. Without, `watched`
gives the lock back as it is.

Two locks are not watched, as user code is what they are for: one program joins at a time, and one optimizer steps at a time.
What Python's collector of cycles finalizes, it finalizes wherever it happens to run. Nobody can choose that place.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")

DEBUG: Final = os.environ.get("FARREF_DEBUG", "") not in ("", "0")


class _Mine(threading.local):
    """The locks that this thread has, by name; a re-entrant one as often as it was taken."""

    def __init__(self) -> None:
        self.held: list[str] = []


_mine: Final = _Mine()


class Watched:
    """A lock that knows which threads have it."""

    __slots__ = ("_lock", "_name")

    def __init__(self, lock: Any, name: str) -> None:
        self._lock, self._name = lock, name

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, and note it."""
        taken: bool = self._lock.acquire(blocking, timeout)
        if taken:
            _mine.held.append(self._name)
        return taken

    def release(self) -> None:
        """Give the lock back."""
        _mine.held.remove(self._name)
        self._lock.release()

    def locked(self) -> bool:
        """Say whether somebody has it."""
        return bool(self._lock.locked())

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_error: object) -> None:
        self.release()


def watched(lock: T, name: str) -> T:
    """Give a lock under which no user code may run."""
    return cast("T", Watched(lock, name)) if DEBUG else lock


def keep_for_good(name: str) -> None:
    """Say that this thread has ended something with a lock, which it never gives back and which nobody waits for."""
    if DEBUG:
        _mine.held.remove(name)


def entering(what: str) -> None:
    """Say that user code is about to run on this thread."""
    if DEBUG and _mine.held:
        raise AssertionError(f"{what} is code of the application, and would run under {', '.join(_mine.held)}")
