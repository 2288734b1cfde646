"""Tell a run of distributed autograd in English, in the words of the spec: what happens in a step.

A sentence goes on with what follows from the step (`consequences.py`).
"""

from __future__ import annotations

from typing import assert_never

from farref.model.actions import Cut, Deliver, DropMessage, Duplicate, Exclude, FailCall, Install, Mend, Retry
from farref.model.autograd import actions as act
from farref.model.ids import worker_name
from farref.properties.autograd.replay import AutogradMoment
from farref.properties.breaks import what_a_break_does
from farref.properties.traces.story import befalls


def happens(moment: AutogradMoment) -> str:
    """Tell what happens in a step."""
    action, worker = moment.action, moment.worker
    match action:
        case act.Choose():
            return f"the program is graph {moment.graph.name}"
        case act.SendTensors(pair):
            return f"{worker} sends tensors to {worker_name(moment.graph.pairs[pair].target)}, as pair {pair}"
        case act.SendDetached(pair):
            target = worker_name(moment.graph.pairs[pair].target)
            return f"{worker} sends tensors to {target} with recording switched off, where pair {pair} would be"
        case act.Backward():
            return f"{worker} calls backward()"
        case act.TimeOut(number):
            return f"{worker} gives up waiting for pass {number}"
        case act.ReleaseContext():
            return f"{worker} releases the context"
        case act.Crash():
            return f"{worker} dies"
        case act.Notice(_, dead):
            return f"{worker} is told that {worker_name(dead)} is dead"
        case Exclude():
            return f"a view excludes {worker_name(action.worker)}, which goes on"
        case Install():
            return f"{worker} installs the next view"
        case act.Fence():
            return f"{worker} learns that it is excluded, and falls silent"
        case Cut(_, other):
            ends = what_a_break_does(moment.model.rules)
            return f"the link between {worker} and {worker_name(other)} breaks{ends}"
        case Mend(_, other):
            return f"the link between {worker} and {worker_name(other)} is mended"
        case act.Raise():
            return f"{befalls(moment)}, and a backward rule raises an exception"
        case Deliver() | Duplicate() | DropMessage() | Retry() | FailCall():
            return befalls(moment)
        case _:
            assert_never(action)
