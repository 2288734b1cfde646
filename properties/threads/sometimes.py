"""What must be able to happen to the threads of a worker, so that a green run is not an empty one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.model.checker.interface import Property
from farref.model.threads.world import MAIN, Bounds, Phase, Reader, Stage, World
from farref.properties.build import per_world, situations

WorldPredicate = Callable[[World, Bounds], bool]


def a_caller_reads_while_all_sleep(world: World, bounds: Bounds) -> bool:
    """A caller waits for input, and the whole background is asleep."""
    stages = [world.threads[me].stage for me in bounds.background_ids]
    polls = world.role is not None and world.threads[world.role].stage is Stage.POLL
    return world.reader is Reader.CALLER and polls and all(one in (Stage.ASLEEP, Stage.UNBORN) for one in stages)


def a_caller_waits_for_another(world: World, bounds: Bounds) -> bool:
    """A caller sleeps in line while another caller reads."""
    return world.reader is Reader.CALLER and any(thread.stage is Stage.LINE for thread in world.threads)


def two_functions_run(world: World, bounds: Bounds) -> bool:
    """Two functions run at the same time, and somebody reads."""
    return sum(thread.stage is Stage.RUNNING for thread in world.threads) > 1 and world.role is not None


def an_interrupt_meets_the_reader(world: World, bounds: Bounds) -> bool:
    """The main thread is interrupted while it reads for all."""
    return world.pending and world.role == MAIN


def a_frame_rides_along(world: World, bounds: Bounds) -> bool:
    """A call is queued while the reader has been roused for another one."""
    return world.roused and sum(call.phase is Phase.QUEUED for call in world.calls) > 1


_WHEN: Final[dict[WorldPredicate, tuple[str, Callable[[Bounds], object]]]] = {
    a_caller_reads_while_all_sleep: ("H7", lambda bounds: bounds.frames and bounds.waits and not bounds.tasks),
    a_caller_waits_for_another: ("H3", lambda bounds: bounds.callers > 1 and bounds.frames > 1 and bounds.waits),
    two_functions_run: ("H6", lambda bounds: bounds.tasks > 1 and bounds.background > 2),
    an_interrupt_meets_the_reader: ("H8", lambda bounds: bounds.frames and bounds.interrupts and bounds.waits),
    a_frame_rides_along: ("H2", lambda bounds: bounds.callers > 1 and bounds.frames > 1),
}
"""Each predicate with its clause and the bounds it can be reached in."""


def thread_witnesses(bounds: Bounds) -> tuple[Property, ...]:
    """List what must be reachable in a bounded worker."""
    return tuple(situations(bounds, _WHEN, per_world))
