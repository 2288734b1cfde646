"""Every step that can be taken in a world. The protocol itself is in `worker.py`, `task.py`, `root.py` and `release.py`.

A step finds the record the action is about, hands it to its handler, puts the result back and sends what the handler sends.
Here is what befalls messages; the rest is in `context_steps.py`, `pass_steps.py`, `death_steps.py`, `member_steps.py` and
`link_steps.py`. What a worker tells itself, as root or as creator, takes effect at once, without a message.
"""

from __future__ import annotations

from typing import assert_never

from farref.model.actions import (
    Cut,
    Deliver,
    DropMessage,
    Duplicate,
    Exclude,
    FailCall,
    Install,
    Mend,
    OnMessage,
    Retry,
)
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd.addressing import carried, ends
from farref.model.autograd.context_steps import fail_call, on_context_message, release_context, send_tensors
from farref.model.autograd.death_steps import crash, notice, on_farewell
from farref.model.autograd.link_steps import cut, mend
from farref.model.autograd.member_steps import member_step
from farref.model.autograd.pass_steps import begin_pass, on_pass_message, raise_in_pass, time_out
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, choose, is_apart, spend


def step(world: World, action: act.Action, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Give the world after an action, or None where the action cannot happen."""
    match action:
        case OnMessage():
            return _befall(world, action, bounds, rules)
        case act.Choose(place):
            return choose(world, place, bounds) if world.graph is None else None
        case act.SendTensors(pair):
            return send_tensors(world, pair, bounds, rules, attached=True)
        case act.SendDetached(pair):
            return send_tensors(world, pair, bounds, rules, attached=False)
        case act.Backward(worker):
            return begin_pass(world, worker, bounds, rules)
        case act.TimeOut(number):
            return time_out(world, number, bounds, rules)
        case act.ReleaseContext():
            return release_context(world, bounds, rules)
        case act.Crash(worker):
            return crash(world, worker, bounds, rules)
        case act.Notice(worker, dead):
            return notice(world, worker, dead, bounds, rules)
        case Exclude() | Install() | act.Fence():
            return member_step(world, action, bounds, rules)
        case Cut(one, other):
            return cut(world, one, other, bounds, rules)
        case Mend(one, other):
            return mend(world, one, other)
        case _:
            assert_never(action)


def _befall(world: World, action: act.Befalling, bounds: Bounds, rules: AutogradRules) -> World | None:
    place = bounds.places[action.message]
    if isinstance(action, Retry):
        again = net.retry(world.network, place)
        return again and world._replace(network=again)
    if not net.is_flying(world.network, place):
        return None
    parcel, is_spent = carried(world, action.message, bounds), net.is_spent(world.network, place, rules)
    is_of_the_dead = False
    if bounds.mourning:
        source, target = ends(world, action.message, bounds)
        if is_apart(world, source, target):
            return None  # what is on a broken link waits (R36)
        is_refused = source in world.workers[target].mourned  # nothing of the dead is taken any more (A21)
        is_spent = is_spent or (is_refused and rules.refuses_the_excluded)
        is_of_the_dead = source in world.dead
    taken = world._replace(network=net.take(world.network, place))
    match action:
        case Deliver():
            return taken if is_spent else _receive(taken, parcel, bounds, rules)
        case Duplicate():
            spent = None if is_spent else spend(world, "duplicates")
            return spent and _receive(spent, parcel, bounds, rules)
        case DropMessage():
            spent = None if is_spent else spend(world, "drops")
            lost = net.take if is_of_the_dead else net.lose  # nobody is left to send it again
            return spent and spent._replace(network=lost(spent.network, place))
        case act.Raise(message):
            spent = None if is_spent else spend(taken, "failures")
            return spent and raise_in_pass(_processed(spent, message, bounds), message, bounds, rules)
        case FailCall(message):
            spent = None if is_spent else spend(taken, "failures")
            return spent and fail_call(spent, message.pair, bounds, rules)
        case _:
            assert_never(action)


def _receive(world: World, parcel: msg.Parcel, bounds: Bounds, rules: AutogradRules) -> World:
    world = _processed(world, parcel[0], bounds)
    match parcel:
        case (msg.ForwardCall(), _) | (msg.CleanupContext(), _) | (msg.Closed(), _) | (msg.Settled(), _):
            return on_context_message(world, parcel, bounds, rules)
        case (msg.Forget(who), dead):
            return on_farewell(world, who, dead, bounds, rules)
        case _:
            return on_pass_message(world, parcel, bounds, rules)


def _processed(world: World, message: msg.Message, bounds: Bounds) -> World:
    if not bounds.duplicates:
        return world  # nothing ever asks
    return world._replace(network=net.process(world.network, bounds.places[message]))
