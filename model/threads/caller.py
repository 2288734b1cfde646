"""What a thread of the application does: it calls, and waits for the answer. Whoever waits reads for all, if nobody does."""

from __future__ import annotations

from farref.model.threads.reading import write
from farref.model.threads.rules import ThreadRules
from farref.model.threads.world import (
    MAIN,
    Hurry,
    Phase,
    Reader,
    Stage,
    World,
    detour,
    has_tasks,
    is_done,
    is_interrupted,
    nudge,
    put,
    put_call,
    rouse_one,
    somebody_in_line,
    spend,
    tell_first,
    to,
)


def make_call(world: World, me: int, rules: ThreadRules) -> World | None:
    """Queue a call (H1)."""
    spent = spend(world, "frames")
    if spent is None or world.calls[me].phase is not Phase.NONE:
        return None
    return to(put_call(spent, me, phase=Phase.QUEUED)._replace(hurry=Hurry.NOW), me, Stage.QUEUED)


def call_self(world: World, me: int, rules: ThreadRules) -> World | None:
    """Queue a task for oneself (H5)."""
    spent = spend(world, "own")
    if spent is None or world.calls[me].phase is not Phase.NONE:
        return None
    return to(put_call(spent, me, phase=Phase.TASKED), me, Stage.STARTED)


def wake_for_task(world: World, me: int, rules: ThreadRules) -> World:
    """Wake one that stands by (H5)."""
    return to(nudge(world) if rules.wakes_for_tasks_of_others else world, me, Stage.CALLED)


def write_at_once(world: World, me: int, rules: ThreadRules) -> World:
    """Write it oneself (H1)."""
    return write(world, me, Stage.CALLED, Hurry.SOON, rules)


def hand_over(world: World, me: int, rules: ThreadRules) -> World:
    """Leave it to whoever reads, and rouse him if nobody has; if nobody reads, whoever reads next writes first (H2)."""
    if world.role is None or world.roused or not rules.rouses_the_reader:
        return to(world, me, Stage.CALLED)
    return detour(world._replace(roused=True), me, Stage.KICK, Stage.CALLED)


def go_on(world: World, me: int, rules: ThreadRules) -> World:
    """Do something else. An interrupt that was noted is raised (H8)."""
    return _out(world, me)


def wait(world: World, me: int, rules: ThreadRules) -> World | None:
    """Begin to wait (H3)."""
    if is_interrupted(world, me):
        return None
    if is_done(world, me):
        return _out(world, me)
    return to(nudge(world) if has_tasks(world) else world, me, Stage.TRY)


def try_role(world: World, me: int, rules: ThreadRules) -> World:
    """Take the role, or stand in line (H3). Whoever stands in line stays there until it has the role, or leaves."""
    if world.role is None:
        return to(world._replace(role=me), me, Stage.ACQUIRED)
    return to(world._replace(line=world.line.put(_end_of_line(world), me)), me, Stage.UNCLEARED)


def begin_reading(world: World, me: int, rules: ThreadRules) -> World:
    """Say that a caller reads, before looking whether it is done (H4)."""
    return to(world._replace(reader=Reader.CALLER), me, Stage.READS)


def stop_reading(world: World, me: int, rules: ThreadRules) -> World | None:
    """Give the role back, and wake one that stands by if all are asleep (H3, H7)."""
    if not is_done(world, me) and not is_interrupted(world, me):
        return None
    free = world._replace(reader=Reader.NOBODY, role=None)
    return to(rouse_one(free) if rules.wakes_one_after_reading else free, me, Stage.LEAVING)


def clear_event(world: World, me: int, rules: ThreadRules) -> World:
    """Clear the event, before looking whether it is done (H3)."""
    return to(put_call(world, me, event=False), me, Stage.CLEARED)


def look_whether_done(world: World, me: int, rules: ThreadRules) -> World:
    """Leave if it is done or interrupted (H3)."""
    if (is_done(world, me) and rules.looks_after_clearing) or is_interrupted(world, me):
        return _left(world, me)
    return to(world, me, Stage.LINING)


def try_role_in_line(world: World, me: int, rules: ThreadRules) -> World:
    """Take the role if it is free by now. If a background thread reads, ask it to leave. Then sleep (H3)."""
    if world.role is None and rules.tries_in_line:
        return to(_out_of_line(world, me)._replace(role=me), me, Stage.ACQUIRED)
    if world.reader is Reader.LEADER and rules.leader_leaves_for_callers:
        world = world._replace(kick=True)
    return to(world, me, Stage.LINE)


def wake_in_line(world: World, me: int, rules: ThreadRules) -> World | None:
    """Wake up, and look again."""
    if not world.calls[me].event and not is_interrupted(world, me):
        return None
    return to(world, me, Stage.UNCLEARED)


def pass_on(world: World, me: int, rules: ThreadRules) -> World:
    """Tell the first caller in line, and leave (H3, H8)."""
    return _out(tell_first(world) if rules.passes_the_role_on else world, me)


def interrupt(world: World, rules: ThreadRules) -> World | None:
    """Note an interrupt of the main thread while it is in the shell (H8). Elsewhere it is no concern of the shell."""
    spent = spend(world, "interrupts")
    if spent is None or world.pending or world.threads[MAIN].stage is Stage.OUT:
        return None
    return spent._replace(pending=True) if rules.notes_interrupts else _torn_out(spent)


def _torn_out(world: World) -> World:
    """Raise where the main thread waits: a lock that it has just taken, before the `try` that gives it back, stays locked."""
    main = world.threads[MAIN]
    if Stage.CALLED in (main.stage, main.then) or main.stage in (Stage.QUEUED, Stage.STARTED):
        return world._replace(pending=True)
    if world.role == MAIN and main.stage is not Stage.ACQUIRED:
        world = world._replace(role=None, reader=Reader.NOBODY)
    if world.sending == MAIN:
        world = world._replace(sending=None)
    return _out(put(_out_of_line(world, MAIN), MAIN, main._replace(then=Stage.OUT)), MAIN)


def _out(world: World, me: int) -> World:
    """Leave the shell. What became of the call is no longer of interest, but its frame still has to leave."""
    phase = world.calls[me].phase
    if phase is Phase.QUEUED:
        world = world._replace(others=True)
    if phase not in (Phase.TASKED, Phase.RUN):
        world = put_call(world, me, phase=Phase.NONE)
    raised = world._replace(pending=False) if is_interrupted(world, me) else world
    return to(raised, me, Stage.OUT)


def _left(world: World, me: int) -> World:
    return to(_out_of_line(put_call(world, me, event=False), me), me, Stage.LEAVING)


def _end_of_line(world: World) -> int:
    return next(place for place, caller in enumerate(world.line) if caller is None)


def _out_of_line(world: World, me: int) -> World:
    if not somebody_in_line(world):
        return world
    others = [caller for caller in world.line if caller is not None and caller != me]
    line = world.line
    for place in range(len(line)):
        line = line.put(place, others[place] if place < len(others) else None)
    return world._replace(line=line)
