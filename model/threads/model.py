"""The threads of one worker as a model: where they start, everything that could ever happen, and what then follows.

Read in this order: `world.py` (the stages of a thread, and what threads share), `caller.py` and `background.py` (the two
kinds of thread), `reading.py` (what both do), `rules.py` (what could have been decided otherwise), `steps.py` (how it is put
together). `spec/threads.md` says what it is for, and what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from farref.model.protocol_model import ProtocolModel
from farref.model.threads import actions as act
from farref.model.threads.rules import SOUND, ThreadRules
from farref.model.threads.steps import BACKGROUND, CALLER, EITHER, step
from farref.model.threads.world import Bounds, World, empty_world


def all_actions(bounds: Bounds, rules: ThreadRules) -> Iterator[act.Action]:
    """List every action that these bounds and rules allow to happen at some time."""
    for thread in bounds.caller_ids:
        yield from (kind(thread) for kind in (*CALLER, *EITHER) if _can_be(kind, bounds, rules))
        if bounds.frames and bounds.waits:
            yield act.Answer(thread)
    for thread in bounds.background_ids:
        yield from (kind(thread) for kind in (*BACKGROUND, *EITHER, act.TakeToken) if _can_be(kind, bounds, rules))
    if bounds.tasks:
        yield act.Arrive()
    if bounds.interrupts:
        yield act.Interrupt()


WAITING = (
    *(act.Wait, act.TryRole, act.BeginReading, act.StopReading),
    *(act.ClearEvent, act.LookWhetherDone, act.TryInLine, act.WakeInLine),
)
"""What only a caller that waits does."""


def _can_be(kind: type[act.OnThread], bounds: Bounds, rules: ThreadRules) -> bool:
    if kind in WAITING:
        return bounds.waits and bounds.frames + bounds.own > 0
    if kind in (act.CallSelf, act.WakeForTask):
        return bounds.own > 0
    if kind in (act.MakeCall, act.WriteAtOnce, act.HandOver):
        return bounds.frames > 0
    if kind is act.GoOn:
        return bounds.frames + bounds.own > 0
    if kind in (act.TakeTasks, act.StartThread, act.FailToStart, act.TakeTask, act.EndTask):
        return bounds.own + bounds.tasks > 0
    if kind is act.FallAsleep:
        return not rules.counts_itself_before_it_looks
    return kind is not act.LowerLate or not rules.lowers_the_hurry_first


@dataclass(frozen=True)
class ThreadModel(ProtocolModel[Bounds, ThreadRules, World, act.Action]):
    """The threads of one worker under some rules."""

    rules: ThreadRules = SOUND

    empty_world: ClassVar = staticmethod(empty_world)
    all_actions: ClassVar = staticmethod(all_actions)
    take: ClassVar = staticmethod(step)
