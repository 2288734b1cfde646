"""Who reads, and who runs functions.

One thread at a time has the *role* of reading for all. Waking another thread costs more than a whole small call, so the
rules below avoid it wherever they can:

- A thread that waits for an answer takes the role itself and reads until its answer is there. If a background thread has
  the role, it is asked to leave.
- A background thread that reads a call gives the role back and runs the function itself. It wakes nobody. If the function
  takes long, another background thread takes the role: the *lookout*, which looks around every few milliseconds while
  there is activity.
- A waiting caller never runs a function of somebody else: its own timeout could not fire. It hands it to the background.

A plain design was measured, in which one thread reads and callers only wait: a small call took 41 % longer if that thread ran
the functions too, and 82 % longer if they had threads of their own (medians of five alternating runs).

There is always a background thread that stands by: before the last one begins a function, it starts one more. So blocked
functions never stop the reading, at any depth of nesting. Where the system allows no thread more, the last one runs functions
all the same: then one that blocks stops the reading until it ends, or until its timeout. Of those that stand by, one is the
lookout and all others sleep; while somebody reads and nothing comes, the lookout sleeps too.

All this is modelled, and searched by `farref check threads`. A table in `__init__.py` says which function takes which steps.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from farref.impl.user_code import keep_for_good, watched
from farref.impl.values.telling import complain
from farref.impl.worker.interrupts import uninterrupted
from farref.impl.worker.waiting import Bell

NAP_S: Final = 0.002
TURN_S: Final = 0.05
LINE_S: Final = 5.0  # nobody needs it to end: a net below `spec/threads.md`
NAPS_UNTIL_HELP: Final = 4
NAPS_UNTIL_SLEEP: Final = 50
STANDBYS_MAX: Final = 8
FAREWELL_S: Final = 0.2

Task = Callable[[], None]
Done = Callable[[], bool]
MakeBell = Callable[[], Bell] | None  # makes a bell that rings when something is done


class Reactor:
    """The threads of one worker. `turn` reads once, waiting up to some seconds; only whoever has the role calls it."""

    def __init__(self, turn: Callable[[float], None], name: str) -> None:
        self._turn = turn
        self._name = name
        self._role = watched(threading.Lock(), "_role")
        self.tasks: deque[Task] = deque()
        """What is to be run. Whoever drives a worker without threads runs it himself."""
        self._callers: deque[Bell] = deque()
        self._wake = Bell()
        """Rung if one that stands by is to wake."""
        self._count = watched(threading.Lock(), "_count")
        self._standbys = 0
        self._lookouts = 0
        self._threads: list[threading.Thread] = []
        self._progress = 0
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
        self.tasks.append(task)
        self._wake.ring()

    def queue(self, task: Task) -> None:
        """Leave a task to whoever reads: a background thread runs it next, a caller hands it over. Others wake somebody."""
        self.tasks.append(task)
        if self._reader != threading.get_ident():
            self._wake.ring()

    def serve_until(self, done: Done, deadline: float, make_bell: MakeBell = None) -> None:
        """Wait for something, reading for all if nobody else does. An interrupt that raises ends it."""
        while True:
            with uninterrupted:
                self._serve_until(done, deadline, make_bell)
            if done() or time.monotonic() >= deadline or self._stopped or uninterrupted.is_interrupted():
                return  # an interrupt is heard by whoever is further out

    def _serve_until(self, done: Done, deadline: float, make_bell: MakeBell) -> None:
        if self.tasks:
            self._wake.ring()
        if self._role.acquire(False) or self._stand_in_line(done, deadline, make_bell):
            self._read_until(done, deadline)
        self._pass_on()

    def stop(self) -> bool:
        """Let every background thread end after what it is doing, and nobody read any more. Say whether that is so."""
        self._stopped = True
        with self._count:
            threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        self._wake.ring()
        os.eventfd_write(self.kick, 1)
        for bell in list(self._callers):
            bell.ring()
        deadline = time.monotonic() + FAREWELL_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        is_free = self._role.acquire(timeout=FAREWELL_S)  # and is never given back: a caller may be about to read
        if is_free:
            keep_for_good("_role")
        return is_free and not any(thread.is_alive() for thread in threads)

    def abandon(self) -> None:
        """Let nobody wait any more, in a copy of this process that has none of its threads."""
        self._stopped = True

    def look_again(self) -> None:
        """Let a caller that reads see whether what it waits for is done, unless it is the one who says so."""
        if self._reader and not self._leading and self._reader != threading.get_ident():
            self.rouse_reader()

    def rouse_reader(self) -> None:
        """Let whoever reads take another turn, which writes what is queued."""
        os.eventfd_write(self.kick, 1)

    @property
    def is_reading(self) -> bool:
        """Whether somebody has the role. If not, whoever takes it next writes first what was queued until then."""
        return self._role.locked()

    @property
    def runs_next(self) -> bool:
        """Whether whoever reads will run the tasks that wait, and not only hand them over."""
        return self._leading and bool(self.tasks)

    @property
    def is_busy(self) -> bool:
        """Whether a task waits to be run: whoever runs tasks may leave their results for one write."""
        return bool(self.tasks)

    # A caller that waits

    def _read_until(self, done: Done, deadline: float) -> None:
        self._reader = threading.get_ident()
        try:
            while not done() and (left := deadline - (began := time.monotonic())) > 0 and not self._stopped:
                if uninterrupted.pending and uninterrupted.is_interrupted():
                    break
                self._turn(left if left < TURN_S else TURN_S)
                if time.monotonic() - began < TURN_S:  # something came: the lookout stays awake
                    self._progress += 1
                if self.tasks:
                    self._wake.ring()
        finally:
            self._reader = 0
            self._role.release()
        self._rouse()

    def _stand_in_line(self, done: Done, deadline: float, make_bell: MakeBell) -> bool:
        """Wait in line for the role, or until it is done or too late. Say whether this thread has the role now.

        It hushes its bell, then looks: others change something, then ring. While it is in line the background does not take
        the role.
        """
        bell = Bell() if make_bell is None else make_bell()
        self._callers.append(bell)
        patience = TURN_S if make_bell is None or uninterrupted.can_happen() else LINE_S
        try:
            while not self._stopped and not (uninterrupted.pending and uninterrupted.is_interrupted()):
                bell.hush()
                if done() or (left := deadline - time.monotonic()) <= 0 or self._stopped:
                    return False
                if self._role.acquire(False):
                    return True
                if self._leading:
                    self.rouse_reader()
                bell.wait(min(left, patience))
            return False
        finally:
            self._callers.remove(bell)

    def _pass_on(self) -> None:
        """Tell the next caller in line that the role is free. Whoever has it does this when giving it back."""
        if self._callers and not self._role.locked():
            with suppress(IndexError):
                self._callers[0].ring()

    # The background

    def _spawn(self) -> None:
        """Start one more background thread. Where that fails, those there are do what they can, and the next try is soon."""
        thread = threading.Thread(target=self._background, name=self._name, daemon=True)
        with self._count, suppress(RuntimeError):  # a limit of the system
            thread.start()
            self._threads = [known for known in self._threads if known.is_alive()] + [thread]

    def _background(self) -> None:
        seen, quiet, woken = -1, 0, False
        while not self._stopped:
            quiet = quiet + 1 if seen == self._progress else 0
            seen = self._progress
            if self.tasks and (woken or quiet >= NAPS_UNTIL_HELP):
                self._wake.ring()
                self._run_tasks()
            elif quiet and not (self.tasks or self._callers) and self._role.acquire(False):
                self._lead()
                self._run_tasks()
            else:
                woken, needed = self._stand_by(quiet > NAPS_UNTIL_SLEEP and self._role.locked())
                if not needed:
                    return
                continue
            seen, quiet, woken = self._progress, 0, False
        self._wake.ring()  # the next one is to end too

    def _lead(self) -> None:
        self._leading, self._reader = True, threading.get_ident()
        try:
            while not self.tasks and not self._callers and not self._stopped:
                self._turn(LINE_S)
        finally:
            self._leading, self._reader = False, 0
            self._role.release()
        self._pass_on()

    def _stand_by(self, is_quiet: bool) -> tuple[bool, bool]:
        """Sleep until woken; nap if there is activity and no other lookout. Say whether woken, and whether still needed.

        A lookout that would sleep is counted first, and then looks whether somebody reads: who leaves does it the other way.
        """
        with self._count:
            surplus = self._standbys >= STANDBYS_MAX
            deeply = not surplus and (is_quiet or self._lookouts > 0)
            self._standbys += 1
            self._lookouts += not deeply
        if deeply and is_quiet and not self._role.locked():
            deeply = False
            with self._count:
                self._lookouts += 1
        woken = self._wake.wait(-1 if deeply else NAP_S)
        with self._count:
            self._standbys -= 1
            self._lookouts -= not deeply
            needed = not surplus or self._standbys < STANDBYS_MAX
        if not needed:
            self._rouse()
        return woken, needed

    def _run_tasks(self) -> None:
        """Run what is queued, after making sure that somebody stands by.

        Nobody else is woken for it: the lookout sees if a task takes long, and then all who stand by help.
        """
        if not self.tasks:
            return
        with self._count:
            alone = not self._standbys
        if alone:
            self._spawn()
        self._rouse()
        while self.tasks and not self._stopped:
            try:
                task = self.tasks.popleft()
            except IndexError:
                return
            self._progress += 1
            run(task)

    def _rouse(self) -> None:
        """Wake one background thread if all are fast asleep: somebody has to look after the role."""
        if self._standbys and not self._lookouts:
            self._wake.ring()


def run(task: Task) -> None:
    """Run a task; nothing it raises may end the thread."""
    try:
        task()
    except BaseException as error:
        complain(error)
