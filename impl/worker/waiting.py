"""Waiting for something to read, and when it is worth staying awake.

To be woken takes longer than a whole small call: a core that has nothing to do sleeps deeply, and between two such processes
a message there and back took 53 us asleep and 7 us awake. So a reader *watches* for a moment before it sleeps.

Watching takes a core, and on a busy machine that may be the very core which the peer needs to answer: then a call took three
times as long as without. So it must pay. After each time in vain, twice as many waits as before go straight to sleep,
at most VAIN_MAX; after each success, half as many. Where answers come quickly a reader always watches. Where they do not, or
where nothing happens at all, it tries once in a while and costs next to nothing.
"""

from __future__ import annotations

import select
import time
from typing import Final

WATCH_S: Final = 0.0002
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

    def wait(self, seconds: float) -> Events:
        """Wait up to some seconds for events of the poller."""
        if self._asleep:
            self._asleep -= 1
            return self._poll(seconds)
        events = self._watch(min(seconds, WATCH_S))
        self._asleep = self._vain = self._vain // 2 if events else min(2 * self._vain + 1, VAIN_MAX)
        return events or self._poll(seconds)

    def _watch(self, seconds: float) -> Events:
        poll, end = self._poll, time.monotonic() + seconds
        while not (events := poll(0)) and time.monotonic() < end:
            pass
        return events
