"""What a background thread does: it leads, that is, reads while nobody waits; it runs functions; or it stands by.

Of those that stand by one is the lookout. It looks around now and then: it takes the role if nobody has it, and helps if tasks
wait. The others are asleep. While somebody reads for long, the lookout falls asleep too (H7).
"""

from __future__ import annotations

from farref.model.threads.reading import write
from farref.model.threads.rules import ThreadRules
from farref.model.threads.world import (
    Hurry,
    Mood,
    Phase,
    Reader,
    Stage,
    World,
    detour,
    has_tasks,
    nudge,
    put,
    put_call,
    queue_others,
    rouse_one,
    settle,
    somebody_in_line,
    spend,
    tell_first,
    to,
)

# -- looking around ----------------------------------------------------------------------------------------------------


def take_tasks(world: World, me: int, rules: ThreadRules) -> World | None:
    """Be about to run tasks: one that was woken, or that saw them wait for some time. The next one is to help (H5)."""
    wants = has_tasks(world) and world.threads[me].mood is not Mood.FRESH
    return _begin(nudge(_calm(world, me)), me, rules) if wants else None


def take_role(world: World, me: int, rules: ThreadRules) -> World | None:
    """Take the role if it is free and nobody waits for it (H7)."""
    return to(_calm(world, me)._replace(role=me), me, Stage.GOT_ROLE) if _is_free(world, rules) else None


def stand_by(world: World, me: int, rules: ThreadRules) -> World | None:
    """Stand by: as the lookout, if there is none; asleep, if there is one, or if somebody has been reading for long (H7)."""
    mood, calm = world.threads[me].mood, _calm(world, me)
    if mood is not Mood.FRESH and has_tasks(world):
        return None
    if mood is not Mood.NAPPED:
        return _counted(calm, me, Stage.ASLEEP if world.lookouts else Stage.LOOKOUT)
    if _is_free(world, rules):
        return None
    if world.role is None and rules.sleeps_only_while_read_for:
        return _counted(calm, me, Stage.ASLEEP if world.lookouts else Stage.LOOKOUT)
    if not rules.counts_itself_before_it_looks:
        return to(calm, me, Stage.GOING)
    return _counted(calm, me, Stage.SETTLING)


def look_who_reads(world: World, me: int, rules: ThreadRules) -> World:
    """Fall asleep only while somebody reads: that one wakes somebody as it leaves (H7)."""
    if world.role is not None or not rules.sleeps_only_while_read_for:
        return to(world, me, Stage.ASLEEP)
    return to(world._replace(lookouts=world.lookouts + 1), me, Stage.LOOKOUT)


def fall_asleep(world: World, me: int, rules: ThreadRules) -> World:
    """Sleep, whoever reads by now."""
    return _counted(world, me, Stage.ASLEEP)


def take_token(world: World, me: int, rules: ThreadRules) -> World | None:
    """Be woken."""
    return _awake(world._replace(token=False), me, Mood.WOKEN) if world.token else None


def nap_ends(world: World, me: int, rules: ThreadRules) -> World | None:
    """Look around. It may do so at any time. Where it would see nothing and change nothing, that is no step."""
    return _awake(world, me, Mood.NAPPED) if sees_something(world, rules) else None


def sees_something(world: World, rules: ThreadRules) -> bool:
    """Say whether the lookout could do something: help, read, or fall asleep."""
    return has_tasks(world) or _is_free(world, rules) or world.role is not None or not rules.sleeps_only_while_read_for


def _counted(world: World, me: int, stage: Stage) -> World:
    looks = stage is Stage.LOOKOUT
    return to(world._replace(standbys=world.standbys + 1, lookouts=world.lookouts + looks), me, stage)


def _awake(world: World, me: int, mood: Mood) -> World:
    looked = world.threads[me].stage is Stage.LOOKOUT
    counted = world._replace(standbys=world.standbys - 1, lookouts=world.lookouts - looked)
    return put(counted, me, world.threads[me]._replace(stage=Stage.LOOKING, mood=mood))


def _calm(world: World, me: int) -> World:
    return put(world, me, world.threads[me]._replace(mood=Mood.FRESH))


def _is_free(world: World, rules: ThreadRules) -> bool:
    wanted = has_tasks(world) or (somebody_in_line(world) and rules.leader_leaves_for_callers)
    return world.role is None and not wanted


# -- leading -----------------------------------------------------------------------------------------------------------


def begin_leading(world: World, me: int, rules: ThreadRules) -> World:
    """Say that a background thread reads, before looking who stands in line (H3)."""
    return to(world._replace(reader=Reader.LEADER), me, Stage.LEADS)


def stop_leading(world: World, me: int, rules: ThreadRules) -> World | None:
    """Give the role back: to run tasks, or for a caller in line (H3)."""
    if not has_tasks(world) and not (somebody_in_line(world) and rules.leader_leaves_for_callers):
        return None
    return to(world._replace(reader=Reader.NOBODY, role=None), me, Stage.HANDED)


def pass_on(world: World, me: int, rules: ThreadRules) -> World:
    """Tell the first caller in line, and run what there is (H3)."""
    return _begin(tell_first(world) if rules.passes_the_role_on else world, me, rules)


# -- running functions -------------------------------------------------------------------------------------------------


def _begin(world: World, me: int, rules: ThreadRules) -> World:
    """See whether anybody would be left to read (H6), and wake one of them if all are asleep (H7)."""
    if not has_tasks(world):
        return to(world, me, Stage.LOOKING)
    if world.standbys == 0 and rules.starts_one_more:
        return to(world, me, Stage.ALONE)
    return _rouse(world, me, rules)


def start_thread(world: World, me: int, rules: ThreadRules) -> World | None:
    """Start one more (H6)."""
    unborn = [number for number, thread in enumerate(world.threads) if thread.stage is Stage.UNBORN]
    return _rouse(to(world, unborn[0], Stage.LOOKING), me, rules) if unborn else None


def fail_to_start(world: World, me: int, rules: ThreadRules) -> World | None:
    """Go on alone (H6). That all threads which a model can have are there is a limit of the system too."""
    is_full = all(thread.stage is not Stage.UNBORN for thread in world.threads)
    spent = world if is_full else spend(world, "spawn_failures")
    if spent is None:
        return None
    return _rouse(spent, me, rules) if rules.outlives_a_failed_start else to(spent, me, Stage.ENDED)


def _rouse(world: World, me: int, rules: ThreadRules) -> World:
    return to(rouse_one(world) if rules.wakes_one_before_running else world, me, Stage.POP)


def take_task(world: World, me: int, rules: ThreadRules) -> World:
    """Take a task, of another worker or else of a caller; or have ended."""
    if world.waiting:
        return to(world._replace(waiting=world.waiting - 1), me, Stage.RUNNING)
    for caller, call in enumerate(world.calls):
        if call.phase is Phase.TASKED:
            running = world.threads[me]._replace(stage=Stage.RUNNING, serves=caller)
            return put(put_call(world, caller, phase=Phase.RUN), me, running)
    return to(world, me, Stage.LOOKING)


def end_task(world: World, me: int, rules: ThreadRules) -> World:
    """Queue the result, and write it or leave it to what comes of more tasks (H2); or settle the future of a caller (H4)."""
    caller = world.threads[me].serves
    if caller is not None:
        return _settle(world, me, caller, rules)
    world = queue_others(world, Hurry.NOW)
    if not has_tasks(world):
        return write(world, me, Stage.POP, Hurry.SOON, rules)
    if world.role is None or world.roused or not rules.results_rouse_too:
        return to(world, me, Stage.POP)
    return detour(world._replace(roused=True), me, Stage.KICK, Stage.POP)


def _settle(world: World, me: int, caller: int, rules: ThreadRules) -> World:
    """Settle the future, and let a caller that reads look again: it may be the one that waits (H4)."""
    kicks = world.reader is Reader.CALLER and rules.looks_again_when_settled
    settled = settle(world._replace(kick=True) if kicks else world, caller)
    return put(settled, me, settled.threads[me]._replace(stage=Stage.POP, serves=None))
