"""Everything that can happen in a worker, one frozen dataclass each. Most are the next step of one thread.

`impl/worker/` follows them: a table in its `__init__.py` says which function takes which of these steps.
"""

from __future__ import annotations

from dataclasses import dataclass

from farref.model.actions import Happening
from farref.model.threads.world import ThreadId


@dataclass(frozen=True, slots=True)
class OnThread(Happening):
    """A thread takes its next step."""

    thread: ThreadId

    def __str__(self) -> str:
        return f"{self.kind}(thread {self.thread})"


# -- a caller ----------------------------------------------------------------------------------------------------------


class MakeCall(OnThread):
    """A caller queues a call of another worker."""


class CallSelf(OnThread):
    """A caller queues a call of its own worker, which is a task."""


class WakeForTask(OnThread):
    """Whoever has queued a task wakes one that stands by."""


class WriteAtOnce(OnThread):
    """A caller writes its call itself."""


class HandOver(OnThread):
    """A caller leaves its call to whoever reads, which it will kick if nobody has roused it."""


class GoOn(OnThread):
    """A caller does something else, and does not wait for its call."""


class Wait(OnThread):
    """A caller begins to wait, and wakes one that stands by if there is a task."""


class TryRole(OnThread):
    """A caller tries to take the role, and stands in line if it cannot."""


class BeginReading(OnThread):
    """A caller that has the role says that it reads."""


class StopReading(OnThread):
    """A caller that is done, or interrupted, gives the role back, and wakes one that stands by if all are asleep."""


class ClearEvent(OnThread):
    """A caller in line clears its event."""


class LookWhetherDone(OnThread):
    """A caller in line that is done, or interrupted, leaves the line."""


class TryInLine(OnThread):
    """A caller in line tries once more to take the role. If it cannot, and a background thread reads, it kicks that one."""


class WakeInLine(OnThread):
    """A caller in line has its event, or is interrupted."""


class PassOn(OnThread):
    """Whoever has given the role back tells the first caller in line."""


# -- whoever writes ----------------------------------------------------------------------------------------------------


class WriteAll(OnThread):
    """Whoever writes takes the lock and writes all, unless somebody else has the lock."""


class LowerLate(OnThread):
    """Whoever has written lowers the hurry (only without a rule)."""


class Unlock(OnThread):
    """Whoever has written gives the lock back, and looks for more."""


# -- whoever reads -----------------------------------------------------------------------------------------------------


class BeginTurn(OnThread):
    """Whoever reads begins a turn: it writes what is in a hurry, then waits for input."""


class PollEnds(OnThread):
    """Whoever reads has input, or was kicked or interrupted."""


class Hear(OnThread):
    """Whoever was kicked forgets that it was roused, and reads."""


class Kick(OnThread):
    """A thread kicks whoever reads."""


# -- the background ----------------------------------------------------------------------------------------------------


class TakeTasks(OnThread):
    """A background thread is about to run tasks: it sees that somebody stands by, and wakes one if all are asleep."""


class TakeRole(OnThread):
    """A background thread takes the role."""


class BeginLeading(OnThread):
    """A background thread that has the role says that it leads."""


class StopLeading(OnThread):
    """A background thread gives the role back: there is a task, or a caller in line."""


class StandBy(OnThread):
    """A background thread that finds nothing to do stands by."""


class LookWhoReads(OnThread):
    """The lookout, counted among those asleep, looks who reads. If nobody does, it stays awake."""


class FallAsleep(OnThread):
    """A thread that decided to sleep before it was counted does so (only without a rule)."""


class TakeToken(OnThread):
    """One that stands by is woken, and stands by no longer."""


class NapEnds(OnThread):
    """The lookout looks around."""


class StartThread(OnThread):
    """A background thread starts one more."""


class FailToStart(OnThread):
    """The system refuses to start one more."""


class TakeTask(OnThread):
    """A background thread takes a task, or finds none."""


class EndTask(OnThread):
    """A function ends: its result is written or left to others, or the future of a caller is settled."""


# -- from outside ------------------------------------------------------------------------------------------------------


class Answer(OnThread):
    """The answer to a caller's call arrives."""


@dataclass(frozen=True, slots=True)
class Arrive(Happening):
    """A call from another worker arrives."""

    def __str__(self) -> str:
        return "Arrive()"


@dataclass(frozen=True, slots=True)
class Interrupt(Happening):
    """The main thread is interrupted."""

    def __str__(self) -> str:
        return "Interrupt()"


Action = OnThread | Arrive | Interrupt
