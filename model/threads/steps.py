"""How it is put together: at which stage a thread can take which step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, assert_never

from farref.model.threads import actions as act
from farref.model.threads import background, caller, reading
from farref.model.threads.rules import ThreadRules
from farref.model.threads.world import Bounds, Phase, Stage, World, put_call, spend

Step = Callable[[World, int, ThreadRules], World | None]

CALLER: Final[Mapping[type[act.OnThread], tuple[Stage, Step]]] = {
    act.MakeCall: (Stage.OUT, caller.make_call),
    act.CallSelf: (Stage.OUT, caller.call_self),
    act.WakeForTask: (Stage.STARTED, caller.wake_for_task),
    act.WriteAtOnce: (Stage.QUEUED, caller.write_at_once),
    act.HandOver: (Stage.QUEUED, caller.hand_over),
    act.GoOn: (Stage.CALLED, caller.go_on),
    act.Wait: (Stage.CALLED, caller.wait),
    act.TryRole: (Stage.TRY, caller.try_role),
    act.BeginReading: (Stage.ACQUIRED, caller.begin_reading),
    act.BeginTurn: (Stage.READS, reading.begin_turn),
    act.StopReading: (Stage.READS, caller.stop_reading),
    act.ClearEvent: (Stage.UNCLEARED, caller.clear_event),
    act.LookWhetherDone: (Stage.CLEARED, caller.look_whether_done),
    act.TryInLine: (Stage.LINING, caller.try_role_in_line),
    act.WakeInLine: (Stage.LINE, caller.wake_in_line),
    act.PassOn: (Stage.LEAVING, caller.pass_on),
}
"""What a caller can do, and at which stage."""

BACKGROUND: Final[Mapping[type[act.OnThread], tuple[Stage, Step]]] = {
    act.TakeTasks: (Stage.LOOKING, background.take_tasks),
    act.TakeRole: (Stage.LOOKING, background.take_role),
    act.StandBy: (Stage.LOOKING, background.stand_by),
    act.FallAsleep: (Stage.GOING, background.fall_asleep),
    act.LookWhoReads: (Stage.SETTLING, background.look_who_reads),
    act.NapEnds: (Stage.LOOKOUT, background.nap_ends),
    act.BeginLeading: (Stage.GOT_ROLE, background.begin_leading),
    act.BeginTurn: (Stage.LEADS, reading.begin_turn),
    act.StopLeading: (Stage.LEADS, background.stop_leading),
    act.PassOn: (Stage.HANDED, background.pass_on),
    act.StartThread: (Stage.ALONE, background.start_thread),
    act.FailToStart: (Stage.ALONE, background.fail_to_start),
    act.TakeTask: (Stage.POP, background.take_task),
    act.EndTask: (Stage.RUNNING, background.end_task),
}
"""What a background thread can do, and at which stage."""

EITHER: Final[Mapping[type[act.OnThread], tuple[Stage, Step]]] = {
    act.WriteAll: (Stage.LOCK, reading.write_all),
    act.LowerLate: (Stage.LOWERING, reading.lower_late),
    act.Unlock: (Stage.WRITTEN, reading.unlock),
    act.PollEnds: (Stage.POLL, reading.poll_ends),
    act.Hear: (Stage.HEARD, reading.hear),
    act.Kick: (Stage.KICK, reading.kick),
}
"""What both can do, and at which stage."""


def step(world: World, action: act.Action, bounds: Bounds, rules: ThreadRules) -> World | None:
    """Give the world after an action, or None where it cannot happen."""
    match action:
        case act.Arrive():
            spent = spend(world, "tasks")
            return spent and spent._replace(incoming=spent.incoming + 1)
        case act.Interrupt():
            return caller.interrupt(world, rules)
        case act.Answer(thread):
            is_away = world.calls[thread].phase is Phase.AWAY
            return put_call(world, thread, phase=Phase.ANSWERED) if is_away else None
        case act.OnThread(thread):
            return _take(world, action, thread, bounds, rules)
        case _:
            assert_never(action)


def _take(world: World, action: act.OnThread, me: int, bounds: Bounds, rules: ThreadRules) -> World | None:
    stage = world.threads[me].stage
    match action:
        case act.TakeToken():
            return background.take_token(world, me, rules) if stage in (Stage.LOOKOUT, Stage.ASLEEP) else None
        case _:
            own = CALLER if me < bounds.callers else BACKGROUND
            wanted, take = own[type(action)] if type(action) in own else EITHER[type(action)]
            return take(world, me, rules) if stage is wanted else None
