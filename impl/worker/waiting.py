"""How threads wait: for something to read, and for each other.

**For something to read**, and when it is worth staying awake.
To be woken takes longer than a whole small call: a core that has nothing to do sleeps deeply, and between two such processes
a message there and back took 53 us asleep and 7 us awake. So a reader *watches* for a moment before it sleeps.

Watching takes a core, and on a busy machine that may be the very core which the peer needs to answer: then a call took three
times as long as without. So it must pay. After each time in vain, twice as many waits as before go straight to sleep,
at most VAIN_MAX; after each success, half as many. Where answers come quickly a reader always watches. Where they do not, or
where nothing happens at all, it tries once in a while and costs next to nothing.

Whoever watches also *yields*: it lets others have its core in between. Of three workers on two cores, one can work only where
another yields. A worker gives the core back at once, as it soon waits itself. A stranger that computes keeps it for a time
slice, and all answers of that time are late. So a core that stayed away for LOST_S tells that there are strangers: then some
waits keep their core, and watch for a shorter time. They are four times as many after each loss, from CROWDED_MIN to
CROWDED_MAX, and half as many after each watch that yielded and lost nothing.

**For each other**: a bell wakes the one thread that waits for it. It is a lock that is free while the bell has been rung and
nobody has heard it. An `Event` would wake any number of threads, and takes a dozen functions of Python to do so. (A queue's
`get` with a timeout may wait for ever when several threads share it, in CPython 3.11.)
"""

from __future__ import annotations

import os
import select
import threading
import time
from typing import Final

WATCH_S: Final = 0.0004
WATCH_CROWDED_S: Final = 0.0002
LOST_S: Final = 0.0015
CROWDED_MIN, CROWDED_MAX = 50, 12_800
VAIN_MAX: Final = 63

Events = list[tuple[int, int]]


class Waiting:
    """Waits for one worker. Only the thread with the role of reading is ever in here."""

    def __init__(self, poller: select.epoll) -> None:
        self._poll = poller.poll
        self._vain = VAIN_MAX
        """How many waits go straight to sleep after each that watches."""
        self._asleep = self._vain
        """How many of them are left."""
        self._crowded = 0
        """How many waits are left that keep their core as they watch."""
        self._wary = CROWDED_MIN
        """How many there will be after the next loss."""

    def wait(self, seconds: float) -> Events:
        """Wait up to some seconds for events of the poller."""
        if self._asleep:
            self._asleep -= 1
            return self._poll(seconds)
        events = self._watch_alone(seconds) if self._crowded else self._watch(seconds)
        self._asleep = self._vain = self._vain // 2 if events else min(2 * self._vain + 1, VAIN_MAX)
        return events or self._poll(seconds)

    def _watch(self, seconds: float) -> Events:
        """Watch, and let whoever else wants this core have it in between: that may be the peer which answers."""
        poll, now = self._poll, time.monotonic()
        end = now + (seconds if seconds < WATCH_S else WATCH_S)
        while not (events := poll(0)) and now < end:
            os.sched_yield()
            before, now = now, time.monotonic()
            if now - before > LOST_S:
                self._crowded, self._wary = self._wary, min(4 * self._wary, CROWDED_MAX)
                return poll(0)
        if self._wary > CROWDED_MIN:
            self._wary = max(self._wary // 2, CROWDED_MIN)
        return events

    def _watch_alone(self, seconds: float) -> Events:
        """Watch, and keep the core."""
        self._crowded -= 1
        poll, end = self._poll, time.monotonic() + min(seconds, WATCH_CROWDED_S)
        while not (events := poll(0)) and time.monotonic() < end:
            pass
        return events


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
