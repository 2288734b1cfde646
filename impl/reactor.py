"""Who reads, and who runs functions.

One thread at a time has the *role* of reading for all. Waking another thread costs more than a whole small call, so the
rules below avoid it wherever they can:

- A thread that waits for an answer takes the role itself and reads until its answer is there. If a background thread has
  the role, it is asked to leave.
- A background thread that reads a call gives the role back and runs the function itself. It wakes nobody. If the function
  takes long, another background thread, which looks around every few milliseconds while there is activity, takes the role.
- A waiting caller never runs a function of somebody else: its own timeout could not fire. It hands it to the background.

There is always a background thread that stands by: before the last one begins a function, it starts one more. So blocked
functions never stop the reading, at any depth of nesting. Without activity all but the reader sleep.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

NAP_S: Final = 0.002
TURN_S: Final = 0.05
NAPS_UNTIL_SLEEP: Final = 50
STANDBYS_MAX: Final = 8
FAREWELL_S: Final = 0.2

Task = Callable[[], None]


class Reactor:
    """The threads of one worker. `turn` reads once, waiting up to some seconds; only whoever has the role calls it."""

    def __init__(self, turn: Callable[[float], None], name: str) -> None:
        self._turn = turn
        self._name = name
        self._role = threading.Lock()
        self._tasks: deque[Task] = deque()
        self._callers: deque[threading.Event] = deque()
        self._wake = threading.Semaphore(0)
        self._count = threading.Lock()
        self._standbys = 0
        self._asleep = 0
        self._threads: list[threading.Thread] = []
        self._turns = 0
        self._reader = 0
        self._leading = False
        self._stopped = False
        self.kick = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)

    # For everybody

    def begin(self) -> None:
        """Start reading."""
        for _ in range(2):
            self._spawn()

    def start(self, task: Task) -> None:
        """Run a task on a background thread, soon."""
        self._tasks.append(task)
        self._wake.release()

    def queue(self, task: Task) -> None:
        """Leave a task to whoever reads: a background thread runs it next, a caller hands it over. Others wake somebody."""
        self._tasks.append(task)
        if self._reader != threading.get_ident():
            self._wake.release()

    def serve_until(
        self, done: Callable[[], bool], deadline: float, waker: Callable[[threading.Event], None] | None = None
    ) -> None:
        """Wait for something, reading for all if nobody else does."""
        event: threading.Event | None = None
        while not done() and (left := deadline - time.monotonic()) > 0 and not self._stopped:
            if self._role.acquire(blocking=False):
                self._read_until(done, deadline)
                continue
            if event is None:
                event = threading.Event()
                if waker is not None:
                    waker(event)
            event.clear()
            if done():
                break
            self._stand_in_line(event, min(left, TURN_S))
        self._pass_on()

    def stop(self) -> bool:
        """Let every background thread end after what it is doing. Say whether all of them have."""
        self._stopped = True
        with self._count:
            threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        for _ in threads:
            self._wake.release()
        os.eventfd_write(self.kick, 1)
        for thread in threads:
            thread.join(FAREWELL_S)
        return not any(thread.is_alive() for thread in threads)

    @property
    def is_busy(self) -> bool:
        """Whether a task waits to be run: whoever runs tasks may leave their results for one write."""
        return bool(self._tasks)

    # A caller that waits

    def _read_until(self, done: Callable[[], bool], deadline: float) -> None:
        self._reader = threading.get_ident()
        try:
            while not done() and (left := deadline - time.monotonic()) > 0 and not self._stopped:
                self._turn(min(left, TURN_S))
                self._turns += 1
                if self._tasks:
                    self._wake.release()
        finally:
            self._reader = 0
            self._role.release()
        self._rouse()

    def _stand_in_line(self, event: threading.Event, seconds: float) -> None:
        self._callers.append(event)
        try:
            if self._leading:
                os.eventfd_write(self.kick, 1)
            event.wait(seconds)
        finally:
            self._callers.remove(event)

    def _pass_on(self) -> None:
        """Tell the next caller in line that the role may be free."""
        if self._callers:
            with suppress(IndexError):
                self._callers[0].set()

    # The background

    def _spawn(self) -> None:
        thread = threading.Thread(target=self._background, name=self._name, daemon=True)
        with self._count:
            self._threads = [known for known in self._threads if known.is_alive()] + [thread]
            thread.start()

    def _background(self) -> None:
        quiet, seen = 0, self._turns
        while not self._stopped:
            if self._tasks:
                quiet = 0
                self._run_tasks()
            elif not self._callers and seen == self._turns and self._role.acquire(blocking=False):
                quiet = 0
                self._lead()
            else:
                quiet = 0 if seen != self._turns else quiet + 1
                seen = self._turns
                if not self._stand_by(deeply=self._leading and quiet > NAPS_UNTIL_SLEEP):
                    return

    def _lead(self) -> None:
        self._leading, self._reader = True, threading.get_ident()
        try:
            while not self._tasks and not self._callers and not self._stopped:
                self._turn(TURN_S)
        finally:
            self._leading, self._reader = False, 0
            self._role.release()
        self._pass_on()

    def _stand_by(self, deeply: bool) -> bool:
        """Nap, or sleep until woken. Say whether this thread is still needed."""
        with self._count:
            self._standbys += 1
            self._asleep += deeply
            surplus = self._standbys > STANDBYS_MAX
        self._wake.acquire(timeout=None if deeply and not surplus else NAP_S)
        with self._count:
            self._standbys -= 1
            self._asleep -= deeply
            return not (surplus and self._standbys >= STANDBYS_MAX)

    def _run_tasks(self) -> None:
        """Run what is queued, after making sure that somebody stands by.

        Nobody else is woken for it: whoever stands by looks around soon, and helps if a task takes long.
        """
        with self._count:
            alone = not self._standbys
        if alone:
            self._spawn()
        self._rouse()
        while self._tasks and not self._stopped:
            try:
                task = self._tasks.popleft()
            except IndexError:
                return
            run(task)

    def _rouse(self) -> None:
        """Wake one background thread if all are fast asleep: somebody has to look after the role."""
        if self._asleep:
            self._wake.release()


def run(task: Task) -> None:
    """Run a task; nothing it raises may end the thread."""
    try:
        task()
    except Exception:
        traceback.print_exc()
