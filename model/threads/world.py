"""A bounded worker: how many threads it has, what each is doing, and everything they share.

A thread is at a *stage*: what it will do next. Between two stages it does one thing that others can see, as taking a lock,
writing a flag, or looking at one. What others cannot see is no step.

To look and at once to do what follows is one step, where others could do as well before or after what they do in between.

Time is no part of it. A thread that waits, waits until somebody wakes it. Three waits end by themselves: the nap of the
lookout, as soon as there is something for it to see; the wait of an interrupted thread; and a function.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Final, NamedTuple, NewType

from farref.model.values import Table

ThreadId = NewType("ThreadId", int)

MAIN: Final = ThreadId(0)
"""The first caller. Only this thread is ever interrupted."""

FIRST_THREADS: Final = 2
"""So many background threads a worker begins with."""


@dataclass(frozen=True)
class Bounds:
    """How large a worker is, and how much may happen to it."""

    callers: int = 2  # threads of the application; the first is the main thread
    background: int = 3  # background threads that there can be; two are there from the beginning
    frames: int = 2  # calls that callers make of other workers
    own: int = 0  # calls that they make of their own worker
    tasks: int = 1  # calls that come from other workers
    interrupts: int = 0  # interrupts of the main thread
    spawn_failures: int = 0  # threads that the system refuses to start
    waits: bool = True  # callers may wait for their calls, not only go on

    @property
    def caller_ids(self) -> list[ThreadId]:
        """The threads of the application."""
        return [ThreadId(number) for number in range(self.callers)]

    @property
    def background_ids(self) -> list[ThreadId]:
        """The background threads."""
        return [ThreadId(self.callers + number) for number in range(self.background)]


class Stage(IntEnum):
    """What a thread will do next."""

    # A caller
    OUT = auto()  # the application's own code
    QUEUED = auto()  # its call is queued: hand it over
    STARTED = auto()  # its call of its own worker is queued as a task: wake somebody
    CALLED = auto()  # the call is made: wait for it, or do something else
    TRY = auto()  # try to take the role, or stand in line
    ACQUIRED = auto()  # has taken the role, and has not said so
    READS = auto()  # has the role: read on, or give it back
    UNCLEARED = auto()  # stands in line: clear its event
    CLEARED = auto()  # then look whether it is done
    LINING = auto()  # then try once more to take the role
    LINE = auto()  # then wait for its event
    LEAVING = auto()  # pass the role on

    # Whoever reads, writes, or rouses the reader
    POLL = auto()  # waits for input
    HEARD = auto()  # was kicked
    LOCK = auto()  # try to take the lock, and write all
    WRITTEN = auto()  # has written, and holds the lock
    LOWERING = auto()  # has written, and lowers the hurry (only without a rule)
    KICK = auto()  # kick the reader

    # The background
    UNBORN = auto()
    LOOKING = auto()  # awake: what is there to do?
    GOING = auto()  # has decided to sleep, and is not counted yet (only without a rule)
    SETTLING = auto()  # counted among those asleep: look who reads
    LOOKOUT = auto()  # stands by, and looks around now and then
    ASLEEP = auto()  # stands by, and sleeps
    GOT_ROLE = auto()  # has taken the role, and has not said so
    LEADS = auto()  # has the role: read on, or give it back
    HANDED = auto()  # has given the role back: pass it on
    ALONE = auto()  # is about to run functions, and nobody stands by: start a thread
    POP = auto()  # take a function
    RUNNING = auto()  # runs a function
    ENDED = auto()


class Mood(IntEnum):
    """Why a background thread is awake."""

    FRESH = auto()  # it has just begun, or has ended what it did
    WOKEN = auto()  # somebody woke it
    NAPPED = auto()  # it looks around, as it has for some time


class Thread(NamedTuple):
    """One thread."""

    stage: Stage
    then: Stage  # where writing or kicking leads back to
    mood: Mood
    serves: int | None  # whose call of its own worker it runs; None for one from elsewhere


class Phase(IntEnum):
    """Where the call of a caller is."""

    NONE = auto()
    QUEUED = auto()  # in the outbox
    AWAY = auto()  # written
    ANSWERED = auto()  # the answer can be read
    TASKED = auto()  # a call of its own worker: it waits to be run
    RUN = auto()  # it runs
    DONE = auto()  # the future is settled


class Call(NamedTuple):
    """The one call that a caller makes at a time, and the event that the caller sleeps on."""

    phase: Phase
    event: bool


class Hurry(IntEnum):
    """How soon what is queued has to leave."""

    LATER = auto()
    SOON = auto()
    NOW = auto()


class Reader(IntEnum):
    """Who says that it reads."""

    NOBODY = auto()
    CALLER = auto()
    LEADER = auto()


class Budgets(NamedTuple):
    """What may still happen."""

    frames: int
    own: int
    tasks: int
    interrupts: int
    spawn_failures: int


class World(NamedTuple):
    """Everything there is in one worker."""

    threads: Table[Thread]
    calls: Table[Call]
    line: Table[int | None]  # the callers that wait, the first one first
    role: int | None  # who has the role of reading
    reader: Reader
    token: bool  # one that stands by is to wake
    standbys: int
    lookouts: int
    waiting: int  # calls from elsewhere that wait to be run
    incoming: int  # calls from elsewhere that can be read
    others: bool  # the outbox has frames that are no call of a caller
    hurry: Hurry
    sending: int | None  # who has the lock to write
    kick: bool
    roused: bool
    pending: bool  # the main thread was interrupted, and has not raised it
    budgets: Budgets


def empty_world(bounds: Bounds) -> World:
    """Give the worker to which nothing has happened yet: a background thread leads, and another one is asleep.

    A worker whose threads have just begun comes to this by itself, within milliseconds.
    """
    out = Thread(Stage.OUT, Stage.OUT, Mood.FRESH, None)
    leads, asleep, unborn = (out._replace(stage=stage) for stage in (Stage.POLL, Stage.ASLEEP, Stage.UNBORN))
    background = [leads, asleep] + [unborn] * (bounds.background - FIRST_THREADS)
    return World(
        threads=Table([out] * bounds.callers + background),
        calls=Table([Call(Phase.NONE, False)] * bounds.callers),
        line=Table([None] * bounds.callers),
        role=bounds.callers,
        reader=Reader.LEADER,
        token=False,
        standbys=1,
        lookouts=0,
        waiting=0,
        incoming=0,
        others=False,
        hurry=Hurry.LATER,
        sending=None,
        kick=False,
        roused=False,
        pending=False,
        budgets=Budgets(bounds.frames, bounds.own, bounds.tasks, bounds.interrupts, bounds.spawn_failures),
    )


# -- looking -----------------------------------------------------------------------------------------------------------


def has_tasks(world: World) -> bool:
    """Say whether a function waits to be run."""
    return world.waiting > 0 or any(call.phase is Phase.TASKED for call in world.calls)


def has_frames(world: World) -> bool:
    """Say whether anything is in the outbox."""
    return world.others or any(call.phase is Phase.QUEUED for call in world.calls)


def has_input(world: World) -> bool:
    """Say whether anything can be read."""
    return world.incoming > 0 or any(call.phase is Phase.ANSWERED for call in world.calls)


def is_done(world: World, caller: int) -> bool:
    """Say whether what a caller waits for is there."""
    return world.calls[caller].phase is Phase.DONE


def is_interrupted(world: World, caller: int) -> bool:
    """Say whether a caller is to leave soon."""
    return caller == MAIN and world.pending


def somebody_in_line(world: World) -> bool:
    """Say whether a caller stands in line."""
    return world.line[0] is not None


# -- changing ----------------------------------------------------------------------------------------------------------


def to(world: World, thread: int, stage: Stage) -> World:
    """Let a thread be at a stage."""
    return put(world, thread, world.threads[thread]._replace(stage=stage))


def detour(world: World, thread: int, stage: Stage, then: Stage) -> World:
    """Let a thread be at a stage from which it comes back to another."""
    return put(world, thread, world.threads[thread]._replace(stage=stage, then=then))


def back(world: World, thread: int) -> World:
    """Let a thread come back."""
    record = world.threads[thread]
    return put(world, thread, record._replace(stage=record.then, then=Stage.OUT))


def put(world: World, thread: int, record: Thread) -> World:
    """Put a thread's record back."""
    return world._replace(threads=world.threads.put(thread, record))


def put_call(world: World, caller: int, **changes: Phase | bool) -> World:
    """Change the call of a caller."""
    return world._replace(calls=world.calls.put(caller, world.calls[caller]._replace(**changes)))  # type: ignore[arg-type]


def nudge(world: World) -> World:
    """Wake one that stands by: one token at a time is enough."""
    return world._replace(token=True)


def rouse_one(world: World) -> World:
    """Wake one that stands by, if all are asleep: somebody has to look after the role (H7)."""
    return nudge(world) if world.standbys > 0 and world.lookouts == 0 else world


def tell_first(world: World) -> World:
    """Tell the first caller in line that the role is free, if it is (H3). Whoever has it will tell."""
    first = world.line[0]
    return world if first is None or world.role is not None else put_call(world, first, event=True)


def settle(world: World, caller: int) -> World:
    """Give a caller what it waits for, and set its event if it has said by which one to wake it."""
    stage = world.threads[caller].stage
    registered = stage in (Stage.UNCLEARED, Stage.CLEARED, Stage.LINING, Stage.LINE)
    return put_call(world, caller, phase=Phase.NONE if stage is Stage.OUT else Phase.DONE, event=registered)


def queue_others(world: World, hurry: Hurry) -> World:
    """Queue a frame that is no call of a caller."""
    return world._replace(others=True, hurry=max(world.hurry, hurry))


def spend(world: World, budget: str) -> World | None:
    """Use up some of what may happen; None if nothing of it is left."""
    left = getattr(world.budgets, budget)
    return world._replace(budgets=world.budgets._replace(**{budget: left - 1})) if left else None
