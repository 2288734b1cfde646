"""What whoever has the role does, and whoever writes: one turn, and one write. Callers and background threads do the same."""

from __future__ import annotations

from farref.model.threads.rules import ThreadRules
from farref.model.threads.world import (
    Hurry,
    Phase,
    Reader,
    Stage,
    World,
    back,
    detour,
    has_frames,
    has_input,
    has_tasks,
    is_done,
    is_interrupted,
    nudge,
    put_call,
    queue_others,
    settle,
    somebody_in_line,
    to,
)

# -- a turn of reading -------------------------------------------------------------------------------------------------


def begin_turn(world: World, me: int, rules: ThreadRules) -> World | None:
    """Begin a turn by writing what is queued (H1): a caller while it is not done, a leader while it is not wanted elsewhere."""
    if world.threads[me].stage is Stage.LEADS:
        goes_on = not has_tasks(world) and not (somebody_in_line(world) and rules.leader_leaves_for_callers)
    else:
        goes_on = not is_done(world, me) and not is_interrupted(world, me)
    return write(world, me, Stage.POLL, Hurry.SOON, rules) if goes_on else None


def poll_ends(world: World, me: int, rules: ThreadRules) -> World | None:
    """Have input, and read it; or have a kick; or be interrupted."""
    if world.kick:
        heard = world._replace(kick=False) if rules.hears_before_forgetting else _forgotten(world, rules)
        return to(heard, me, Stage.HEARD)
    return _read_all(world, me, rules) if has_input(world) or is_interrupted(world, me) else None


def hear(world: World, me: int, rules: ThreadRules) -> World:
    """Forget that the reader was roused, after the kick was taken and before the turn writes (H2)."""
    heard = _forgotten(world, rules) if rules.hears_before_forgetting else world._replace(kick=False)
    return _read_all(heard, me, rules)


def _forgotten(world: World, rules: ThreadRules) -> World:
    return world._replace(roused=False) if rules.forgets_rousing_when_heard else world


def _read_all(world: World, me: int, rules: ThreadRules) -> World:
    """Read all that has come, and write. A call is answered with a frame that need not leave at once (H1).

    A leader runs tasks next: what can wait for their results does. A caller wakes one that stands by for them (H5).
    """
    for caller, call in enumerate(world.calls):
        if call.phase is Phase.ANSWERED:
            world = settle(world, caller)
    if world.incoming:
        world = queue_others(world._replace(waiting=world.waiting + world.incoming, incoming=0), Hurry.SOON)
    if world.reader is Reader.LEADER:
        return write(world, me, Stage.LEADS, Hurry.NOW if has_tasks(world) else Hurry.SOON, rules)
    handed = nudge(world) if has_tasks(world) and rules.hands_tasks_over else world
    return write(handed, me, Stage.READS, Hurry.SOON, rules)


def kick(world: World, me: int, rules: ThreadRules) -> World:
    """Kick whoever reads."""
    return back(world._replace(kick=True), me)


# -- writing -----------------------------------------------------------------------------------------------------------


def write(world: World, me: int, then: Stage, least: Hurry, rules: ThreadRules) -> World:
    """Be about to write what is in a hurry, and lower that before all of it is written (H1)."""
    if world.hurry < least:
        return to(world, me, then)
    lowered = world._replace(hurry=Hurry.LATER) if rules.lowers_the_hurry_first else world
    return detour(lowered, me, Stage.LOCK, then)


def write_all(world: World, me: int, rules: ThreadRules) -> World:
    """Write all, unless somebody else writes: it looks for more (H1)."""
    if world.sending is not None or not has_frames(world):
        return back(world, me)
    for caller, call in enumerate(world.calls):
        if call.phase is Phase.QUEUED:
            world = put_call(world, caller, phase=Phase.AWAY)
    if not rules.forgets_rousing_when_heard:
        world = world._replace(roused=False)
    return to(world._replace(others=False, sending=me), me, Stage.WRITTEN)


def unlock(world: World, me: int, rules: ThreadRules) -> World:
    """Give the lock back, and look for more: whoever queued it meanwhile has left it to this thread (H1)."""
    world = world._replace(sending=None)
    if rules.looks_for_more_to_write and has_frames(world):
        return to(world, me, Stage.LOCK)
    return back(world, me) if rules.lowers_the_hurry_first else to(world, me, Stage.LOWERING)


def lower_late(world: World, me: int, rules: ThreadRules) -> World:
    """Lower the hurry, whatever was queued since."""
    return back(world._replace(hurry=Hurry.LATER), me)
