"""What must hold of the threads of a worker, however they are scheduled.

Most properties are about worlds that are *quiet*: nothing happens until something comes from outside, a caller calls, or a
function ends. In a quiet world nothing may be left that somebody could have done. So no wake-up may be lost, and no
time limit is needed to find one again.
"""

from __future__ import annotations

from farref.model.checker.interface import Kind, Property
from farref.model.threads.background import sees_something
from farref.model.threads.rules import SOUND
from farref.model.threads.world import (
    Bounds,
    Phase,
    Stage,
    Thread,
    ThreadId,
    World,
    has_frames,
    has_input,
    has_tasks,
    is_done,
    is_interrupted,
)
from farref.properties.build import make_property, per_world
from farref.properties.threads.families import per_background, per_caller

WAITING = frozenset({Stage.LINE, Stage.POLL})
"""Where a caller waits."""

READING = frozenset(
    {
        *(Stage.ACQUIRED, Stage.READS, Stage.GOT_ROLE, Stage.LEADS),
        *(Stage.POLL, Stage.HEARD, Stage.LOCK, Stage.WRITTEN, Stage.LOWERING),
    }
)
"""Where a thread has the role, or may have it."""


# -- quiet worlds ------------------------------------------------------------------------------------------------------


def is_quiet(world: World, bounds: Bounds) -> bool:
    """Say whether no thread can do anything by itself."""
    return all(_is_still(world, me, thread, bounds) for me, thread in enumerate(world.threads))


def _is_still(world: World, me: int, thread: Thread, bounds: Bounds) -> bool:
    match thread.stage:
        case Stage.OUT | Stage.UNBORN | Stage.ENDED | Stage.RUNNING:
            return True
        case Stage.POLL:
            return not (world.kick or has_input(world) or is_interrupted(world, me))
        case Stage.LINE:
            return not (world.calls[me].event or is_interrupted(world, me))
        case Stage.ASLEEP:
            return not world.token
        case Stage.LOOKOUT:
            return not (world.token or sees_something(world, SOUND))
        case _:
            return False


def is_refused(world: World, bounds: Bounds) -> bool:
    """Say whether the system allows no thread more, and all that there are run functions."""
    background = [world.threads[me].stage for me in bounds.background_ids]
    refused = world.budgets.spawn_failures < bounds.spawn_failures or Stage.UNBORN not in background
    return refused and all(stage in (Stage.RUNNING, Stage.UNBORN) for stage in background)


# -- properties --------------------------------------------------------------------------------------------------------


def the_role_is_given_back(world: World, bounds: Bounds) -> bool:
    """E1: whoever has the role is about to read, reads, or is about to give the role back."""
    return world.role is None or world.threads[world.role].stage in READING


def the_lock_is_given_back(world: World, bounds: Bounds) -> bool:
    """E1, of the lock to write: whoever has it has just written."""
    return world.sending is None or world.threads[world.sending].stage is Stage.WRITTEN


def somebody_reads(world: World, bounds: Bounds) -> bool:
    """E2: in a quiet world somebody reads, unless the system allows no thread more."""
    return world.role is not None or not is_quiet(world, bounds) or is_refused(world, bounds)


def no_answer_is_missed(world: World, caller: ThreadId, bounds: Bounds) -> bool:
    """E3: in a quiet world no caller waits for what is there."""
    waits = world.threads[caller].stage in WAITING
    return not (waits and is_done(world, caller) and is_quiet(world, bounds))


def every_frame_leaves(world: World, bounds: Bounds) -> bool:
    """E4: in a quiet world nothing is queued to be written."""
    return not (has_frames(world) and is_quiet(world, bounds)) or is_refused(world, bounds)


def every_task_is_run(world: World, bounds: Bounds) -> bool:
    """E5: in a quiet world no task waits to be run, unless the system allows no thread more."""
    return not (has_tasks(world) and is_quiet(world, bounds)) or is_refused(world, bounds)


def whoever_waits_reads(world: World, caller: ThreadId, bounds: Bounds) -> bool:
    """E6: in a quiet world a caller waits in line only while another caller reads, so that answers wake few threads."""
    waits = world.threads[caller].stage is Stage.LINE
    return not (waits and (world.role is None or world.role >= bounds.callers) and is_quiet(world, bounds))


def no_thread_is_lost(world: World, thread: ThreadId, bounds: Bounds) -> bool:
    """E7: no background thread ends while the worker lives."""
    return world.threads[thread].stage is not Stage.ENDED


def every_call_returns(world: World, caller: ThreadId, bounds: Bounds) -> bool:
    """E8: every caller leaves the shell in the end, and every call is answered."""
    return world.threads[caller].stage is Stage.OUT and world.calls[caller].phase is Phase.NONE


def is_for_liveness(bounds: Bounds) -> bool:
    """Say whether E8 is asked for: of one call alone. Only the reference engine can tell that no run goes round for ever."""
    others = bounds.own + bounds.tasks + bounds.interrupts
    return bounds.waits and bounds.callers == 1 and bounds.frames == 1 and not others


def thread_properties(bounds: Bounds) -> tuple[Property, ...]:
    """List what must hold of the threads of a worker, the most severe first."""
    always, eventually = Kind.ALWAYS, Kind.EVENTUALLY
    returns = make_property(bounds, eventually, "E8", "H9", per_caller(every_call_returns))
    return (
        make_property(bounds, always, "E1", "H8", per_world(the_role_is_given_back), per_world(the_lock_is_given_back)),
        make_property(bounds, always, "E2", "H7", per_world(somebody_reads)),
        make_property(bounds, always, "E3", "H3", per_caller(no_answer_is_missed)),
        make_property(bounds, always, "E4", "H1", per_world(every_frame_leaves)),
        make_property(bounds, always, "E5", "H5", per_world(every_task_is_run)),
        make_property(bounds, always, "E6", "H3", per_caller(whoever_waits_reads)),
        make_property(bounds, always, "E7", "H6", per_background(no_thread_is_lost)),
        *([returns] if is_for_liveness(bounds) else []),
    )
