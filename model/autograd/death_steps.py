"""The steps of a death: a worker dies, and every other one is told, each at its own time (A21).

Who is dead is decided elsewhere (R34). The dead process nothing and send nothing; what they sent before may still arrive,
until its receiver has been told. A root ends its pass if somebody dead takes part in it or was sent something. It need not
have heard of the dead before: whoever sent something there reports that, as always. A worker leaves a pass whose root is
dead, and drops a context whose creator is. What each of them does is in `root.py`, `worker.py` and `release.py`.

Where views decide who is dead, the steps are in `member_steps.py`; what a worker then does is the same.

What is not pretty: a root that dies while it commits leaves gradients on some workers and not on others. Its caller is dead
too.
"""

from __future__ import annotations

from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd import release as rel
from farref.model.autograd import root as rt
from farref.model.autograd import worker as wrk
from farref.model.autograd.addressing import ends
from farref.model.autograd.context_steps import creator_did, worker_did
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.pass_steps import at_own_passes
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, graph_of, is_excluded, put_worker, root_of, spend
from farref.model.ids import WorkerId


def crash(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Let a worker die: it takes with it what it knew, what it would have sent again, and what was on its way to it."""
    if who in world.dead or is_excluded(world, who) or world.graph is None:
        return None  # an excluded worker that takes no step any more is a schedule already
    spent = spend(world, "crashes")
    if spent is None:
        return None
    return fallen_silent(spent, who, bounds, rules)


def fallen_silent(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Let a worker take no step any more, and remove what it would have sent again and what was on its way to it."""
    world = worker_did(world, who, wrk.die(world.workers[who]), bounds, rules)
    world = world._replace(dead=world.dead.add(who))
    network = world.network
    for message, place in bounds.places.items():
        if network.carried[place] is None:
            continue
        source, target = ends(world, message, bounds)
        if target == who or (source == who and place in network.lost):
            network = net.remove(network, place)
    return world._replace(network=network)


def notice(world: World, who: WorkerId, dead: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Tell a worker that another one is dead (A21)."""
    if dead not in world.dead or who in world.dead or dead in world.workers[who].mourned or is_excluded(world, dead):
        return None
    return mourn(world, who, dead, bounds, rules)


def mourn(world: World, who: WorkerId, dead: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Let a worker take another one for dead, and do all that this means (A21)."""
    worker = world.workers[who]
    world = put_worker(world, who, worker._replace(mourned=worker.mourned.add(dead)))
    world = at_own_passes(world, who, lambda record, setting: rt.on_death(record, dead, setting), bounds, rules)
    world = _leave_pass_of(world, who, dead)
    if dead == CREATOR and wrk.is_listed(worker):
        world = at_own_passes(
            world, who, lambda record, setting: rt.on_creator_died(record, dead, setting), bounds, rules
        )
        return worker_did(world, who, wrk.on_creator_died(world.workers[who], rules), bounds, rules)
    if wrk.has_heard_the_last(world.workers[who]):
        return worker_did(world, who, wrk.on_forget(world.workers[who], rules), bounds, rules)
    if who == CREATOR:
        gone_on = rel.on_death(world.release, world.workers[who].mourned, graph_of(world, bounds))
        return creator_did(world, gone_on, bounds, rules)
    return world


def on_farewell(world: World, who: WorkerId, dead: msg.Dead, bounds: Bounds, rules: AutogradRules) -> World:
    """Take those for dead that the creator names as it says farewell, with all that a death means to a worker (A21).

    Where views say who is dead, the worker waits for them, and keeps the id as long (A29).
    """
    if bounds.exclusions:
        return worker_did(world, who, wrk.on_farewell(world.workers[who], dead, rules), bounds, rules)
    world = worker_did(world, who, wrk.on_forget(world.workers[who], rules), bounds, rules)
    for one in sorted(dead):
        if one not in world.workers[who].mourned:
            world = mourn(world, who, one, bounds, rules)
    return world


def _leave_pass_of(world: World, who: WorkerId, dead: WorkerId) -> World:
    worker = world.workers[who]
    if wrk.is_in_a_pass(worker) and root_of(world, worker.task.number) == dead:
        return put_worker(world, who, wrk.leave(worker))
    return world
