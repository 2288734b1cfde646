"""Tell a run of threads in English: what a thread does in a step, and what others see of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from farref.model.threads import actions as act
from farref.model.threads.world import Phase, Stage
from farref.properties.threads.families import thread_name
from farref.properties.threads.replay import ThreadMoment

HAPPENS: Final[Mapping[type, str]] = {
    act.MakeCall: "{} queues a call of another worker",
    act.CallSelf: "{} queues a call of its own worker, as a task",
    act.WakeForTask: "{} tells the background of it",
    act.WriteAtOnce: "{} is about to write its call itself",
    act.HandOver: "{} leaves its call to whoever reads",
    act.GoOn: "{} goes on with something else",
    act.Wait: "{} begins to wait for the answer",
    act.TryRole: "{} tries to take the role of reading",
    act.BeginReading: "{} says that it reads",
    act.StopReading: "{} stops reading",
    act.ClearEvent: "{}, in line, clears its event",
    act.LookWhetherDone: "{} looks whether its answer is there",
    act.TryInLine: "{}, in line, looks once more after the role",
    act.WakeInLine: "{} wakes up in line",
    act.PassOn: "{} passes the role on",
    act.WriteAll: "{} writes what is queued, if nobody else does",
    act.LowerLate: "{} lowers the hurry, after writing",
    act.Unlock: "{} gives the lock to write back",
    act.BeginTurn: "{} begins a turn of reading",
    act.PollEnds: "{} no longer waits for input",
    act.Hear: "{} hears that it was kicked, and reads what there is",
    act.Kick: "{} kicks whoever reads",
    act.TakeTasks: "{} sees that tasks wait",
    act.TakeRole: "{} takes the role of reading",
    act.BeginLeading: "{} says that it leads",
    act.StopLeading: "{} stops reading: it is wanted elsewhere",
    act.StandBy: "{} finds nothing to do",
    act.LookWhoReads: "{}, about to sleep, looks who reads",
    act.FallAsleep: "{} sleeps, whoever reads by now",
    act.TakeToken: "{} is woken",
    act.NapEnds: "{}, the lookout, looks around",
    act.StartThread: "{} starts one more thread",
    act.FailToStart: "{} wants one more thread, and the system refuses",
    act.TakeTask: "{} looks for a task",
    act.EndTask: "the function that {} runs ends",
    act.Answer: "the answer to the call of {} arrives",
    act.Arrive: "a call of another worker arrives",
    act.Interrupt: "{} is interrupted",
}

BECOMES: Final[Mapping[Stage, str]] = {
    Stage.ACQUIRED: "it has the role",
    Stage.POLL: "it waits for input",
    Stage.LINE: "it sleeps in line",
    Stage.UNCLEARED: "it stands in line",
    Stage.LOOKOUT: "it stands by as the lookout",
    Stage.ASLEEP: "it stands by, asleep",
    Stage.RUNNING: "it runs a function",
    Stage.ENDED: "it ends",
}
"""What is worth telling of the stage that a thread comes to."""


def happens(moment: ThreadMoment) -> str:
    """Tell what happens in a step."""
    return HAPPENS[type(moment.action)].format(moment.actor)


def consequences(moment: ThreadMoment) -> Iterator[str]:
    """Tell what others can see of it."""
    before, after, bounds = moment.before, moment.after, moment.model.bounds
    if isinstance(moment.action, act.OnThread) and not isinstance(moment.action, act.Answer):
        was, now = before.threads[moment.action.thread].stage, after.threads[moment.action.thread].stage
        if was is not now and now in BECOMES:
            yield BECOMES[now]
    if after.role is None and before.role is not None:
        yield "nobody has the role"
    if after.token and not before.token:
        yield "one that stands by is to wake"
    if after.kick and not before.kick and not isinstance(moment.action, act.Kick):
        yield "whoever reads is kicked"
    for caller, (old, new) in enumerate(zip(before.calls, after.calls, strict=True)):
        name = thread_name(caller, bounds)
        if new.phase is Phase.DONE is not old.phase:
            yield f"what {name} waits for is there"
        if new.phase is Phase.AWAY is not old.phase:
            yield f"the call of {name} leaves"
