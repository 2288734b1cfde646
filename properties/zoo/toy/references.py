"""References counted in one process: workers are objects, functions run in threads, and everything is under one lock.

It is as small as it can be and still keep every clause that it is asked about, so that one thing can be broken at a time.
What other backends send as messages passes through `post`, where a fault can meet it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Entry:
    """A value, or one to come, and who refers to it."""

    owner: str
    value: Future[Any] = field(default_factory=Future)
    forks: list[object] = field(default_factory=list)
    local: int = 0
    """Uses on the owner: handles, and running functions."""

    @property
    def is_listed(self) -> bool:
        """Whether anybody refers to it."""
        return bool(self.forks) or self.local > 0


@dataclass(eq=False)
class Handle:
    """What a worker holds. On the owner it is a local reference, elsewhere a fork."""

    entry: Entry
    worker: str
    counted: threading.Event = field(default_factory=threading.Event)
    is_dropped: bool = False
    timed_out: bool = False
    is_received: bool = False
    """Whether it was noted that another worker passed it on. The honest backend need not know."""

    @property
    def is_counted(self) -> bool:
        """Whether its owner knows it, or has known it."""
        return self.counted.is_set()


@dataclass
class Fault:
    """What happens to the next messages of a kind that a worker sends."""

    kind: str
    seconds: float = 0.0
    times: int = 1


class References:
    """The owners' tables, and the messages that change them."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.entries: list[Entry] = []
        self.calls: list[Entry] = []
        """Results that callers wait for."""
        self.faults: dict[tuple[str, str], Fault] = {}
        self.dead: set[str] = set()

    # -- messages ------------------------------------------------------------------------------------------------------

    def post(self, worker: str, message: str, act: Callable[[], None]) -> None:
        """Let a message take effect, once, whatever the network does to it."""
        fault, act = self.faults.pop((worker, message), None), self.once(act)
        match fault:
            case None:
                act()
            case Fault("duplicate", seconds):
                act()
                self.later(seconds, act)
            case Fault("delay", seconds):
                self.later(seconds, act).join()
            case Fault("lose", times=times):
                self.lost(times, act)

    def lost(self, times: int, act: Callable[[], None]) -> None:
        """Send a message again that the network has lost."""
        self.later(0.05 * times, act).join()

    def once(self, act: Callable[[], None]) -> Callable[[], None]:
        """Have something take effect once, however often it arrives."""
        waiting = [act]
        return lambda: waiting.pop()() if waiting else None

    def later(self, seconds: float, act: Callable[[], None]) -> threading.Timer:
        """Let something happen after a while."""
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()
        return timer

    # -- counting ------------------------------------------------------------------------------------------------------

    def make(self, owner: str) -> Entry:
        """Make an entry that nobody refers to yet."""
        entry = Entry(owner)
        with self.lock:
            self.entries.append(entry)
        return entry

    def count(self, handle: Handle) -> None:
        """Count a handle, unless it was dropped before it was known."""
        with self.lock:
            handle.counted.set()
            if handle.worker == handle.entry.owner:
                handle.entry.local += 1
            else:
                handle.entry.forks.append(handle)
            if handle.is_dropped:
                self.uncount(handle)

    def uncount(self, handle: Handle) -> None:
        """Count a handle no longer."""
        with self.lock:
            if handle.worker == handle.entry.owner:
                handle.entry.local -= 1
            elif handle in handle.entry.forks:
                handle.entry.forks.remove(handle)
            self.settle(handle.entry)

    def let_go(self, handle: Handle) -> None:
        """Let go of a handle, now or as soon as it is counted."""
        with self.lock:
            handle.is_dropped = True
            is_counted = handle.is_counted
        if is_counted:
            self.post(handle.worker, "UserDelete", lambda: self.uncount(handle))

    def settle(self, entry: Entry) -> None:
        """Drop an entry that nobody refers to."""
        if not entry.is_listed and entry in self.entries:
            self.entries.remove(entry)

    def revive(self, worker: str) -> None:
        """Let a worker begin anew. What the one before it owned is lost."""
        with self.lock:
            self.dead.discard(worker)
            for entry in [one for one in self.entries if one.owner == worker]:
                self.lose(entry)

    def lose(self, entry: Entry) -> None:
        """Have an error in place of a value whose owner is lost."""
        entry.value = Future()
        entry.value.set_exception(ConnectionError(f"worker {entry.owner} has died"))

    def bury(self, worker: str) -> None:
        """Let go of what a dead worker held, and end all waits for what it owned."""
        with self.lock:
            self.dead.add(worker)
            for entry in list(self.entries):
                for handle in [one for one in entry.forks if isinstance(one, Handle) and one.worker == worker]:
                    self.uncount(handle)
            for entry in [*self.entries, *self.calls]:
                if entry.owner == worker and not entry.value.done():
                    entry.value.set_exception(ConnectionError(f"worker {worker} has died"))
