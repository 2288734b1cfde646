"""What happens when a worker dies, and when another one is told. Everything about death is in this file.

Theory of operation. Who is dead is decided elsewhere (R34); here a worker dies, and every other one is told, each at its
own time (A21). The dead process nothing and send nothing; what they sent before may still arrive, until its receiver has
been told. A root ends its pass if somebody dead takes part in it or was sent something. It need not have heard of the dead
before: whoever sent something there reports that, as always. A worker leaves a pass whose root is dead, and drops a context
whose creator is.

What is not pretty: a root that dies while it commits leaves gradients on some workers and not on others. Its caller is dead
too.
"""

from __future__ import annotations

from farref.model.autograd import network as net
from farref.model.autograd import release as rel
from farref.model.autograd import root as rt
from farref.model.autograd import worker as wrk
from farref.model.autograd.addressing import ends
from farref.model.autograd.context_steps import end_own_passes, forget_if_drained
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.pass_steps import decide
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, pass_of, put_pass, put_worker, spend
from farref.model.ids import WorkerId


def crash(world: World, who: WorkerId, bounds: Bounds) -> World | None:
    """Let a worker die: it takes with it what it knew, what it would have sent again, and what was on its way to it."""
    if who in world.dead or world.graph is None:
        return None
    spent = spend(world, "crashes")
    if spent is None:
        return None
    nobody = wrk.stranger(len(bounds.worker_ids), len(bounds.pair_ids))._replace(context=wrk.Context.GONE)
    world = put_worker(spent, who, nobody)._replace(dead=spent.dead.add(who))
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
    worker = world.workers[who]
    if dead not in world.dead or who in world.dead or dead in worker.mourned:
        return None
    world = put_worker(world, who, worker._replace(mourned=worker.mourned.add(dead)))
    world = _go_on_without(world, who, dead, bounds, rules)
    world = _leave_pass_of(world, who, dead)
    if dead == CREATOR and worker.context in (wrk.Context.OPEN, wrk.Context.CLOSED):
        world = end_own_passes(world, who, wrk.Fault.DIED, dead, bounds, rules)
        return put_worker(world, who, rel.forget(world.workers[who], rules))
    is_releasing = who == CREATOR and world.workers[who].context is wrk.Context.CLOSED
    return forget_if_drained(world, bounds, rules) if is_releasing else world


def _go_on_without(world: World, who: WorkerId, dead: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Fail the passes of this root that the dead take part in; a pass that is decided does not wait for them."""
    for number in bounds.pass_ids:
        if pass_of(world, number).root != who:
            continue
        world = decide(world, number, bounds, rules)
        record = pass_of(world, number)
        if record.phase is rt.Phase.COMMITTING:
            world = put_pass(world, number, rt.on_committed(record, dead, rules))
    return world


def _leave_pass_of(world: World, who: WorkerId, dead: WorkerId) -> World:
    worker = world.workers[who]
    if wrk.is_in_a_pass(worker) and pass_of(world, worker.task.number).root == dead:
        return put_worker(world, who, wrk.leave(worker))
    return world
