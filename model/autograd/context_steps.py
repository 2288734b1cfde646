"""The steps of a context: calls are made and arrive, and in the end it is released.

What is decided is decided in `worker.py` and `release.py`. A step finds the record, hands it to its handler, puts it back and
sends. What the creator tells itself takes effect at once, without a message.
"""

from __future__ import annotations

from typing import assert_never

from farref.model.autograd import messages as msg
from farref.model.autograd import release as rel
from farref.model.autograd import root as rt
from farref.model.autograd import worker as wrk
from farref.model.autograd.addressing import receiver_of, send
from farref.model.autograd.ids import CREATOR, PairId
from farref.model.autograd.pass_steps import at_own_passes
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, graph_of, put_worker, spend
from farref.model.ids import WorkerId


def send_tensors(world: World, pair: PairId, bounds: Bounds, rules: AutogradRules, *, attached: bool) -> World | None:
    """Make a call, or return from one (A8)."""
    if world.graph is None:
        return None
    graph = graph_of(world, bounds)
    source = graph.pairs[pair].source
    called = wrk.send_tensors(world.workers[source], pair, graph.inputs[pair], attached=attached)
    if called is None or (source == CREATOR and world.released):
        return None
    if not attached:
        spent = spend(world, "detached")
        if spent is None:
            return None
        world = spent._replace(detached=spent.detached.add(pair))
    return worker_did(world, source, called, bounds, rules)


def fail_call(world: World, pair: PairId, bounds: Bounds, rules: AutogradRules) -> World:
    """Tell the sender of a call that it failed (A9)."""
    source = graph_of(world, bounds).pairs[pair].source
    if source in world.dead:
        return world  # there is nobody to tell
    return worker_did(world, source, wrk.on_call_failed(world.workers[source], pair), bounds, rules)


def release_context(world: World, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Release the context, from the worker that opened it (A24)."""
    if world.released or world.graph is None or CREATOR in world.dead:
        return None
    return _close(world._replace(released=True), CREATOR, bounds, rules)


def on_context_message(world: World, parcel: msg.ContextParcel, bounds: Bounds, rules: AutogradRules) -> World:
    """Hand a call, or a message about the release, to the one it is meant for."""
    match parcel:
        case (msg.ForwardCall(pair) as call, attached):
            who = receiver_of(world, call, bounds)
            return worker_did(world, who, wrk.on_forward_call(world.workers[who], pair, attached, rules), bounds, rules)
        case (msg.CleanupContext(who), _):
            return _close(world, who, bounds, rules)
        case (msg.Closed(who), msg.Calls() as calls):
            mourned, graph = world.workers[CREATOR].mourned, graph_of(world, bounds)
            return creator_did(world, rel.on_closed(world.release, who, calls, mourned, graph), bounds, rules)
        case (msg.Settled(pair), _):
            mourned, graph = world.workers[CREATOR].mourned, graph_of(world, bounds)
            return creator_did(world, rel.on_settled(world.release, pair, mourned, graph), bounds, rules)
        case (msg.Forget(who), _):
            return worker_did(world, who, wrk.on_forget(world.workers[who], rules), bounds, rules)
        case _:
            assert_never(parcel)


def _close(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Close the context on one worker, which ends the passes it is the root of (A24)."""
    world = at_own_passes(world, who, rt.on_closed_context, bounds, rules)
    return worker_did(world, who, wrk.close(world.workers[who], who, graph_of(world, bounds), rules), bounds, rules)


# -- what the steps share ----------------------------------------------------------------------------------------------


def worker_did(world: World, who: WorkerId, result: wrk.Step, bounds: Bounds, rules: AutogradRules) -> World:
    """Put a worker's record back and send what it sends; what the creator tells itself of its calls it knows at once."""
    worker, sends = result
    world = put_worker(world, who, worker)
    for parcel in sends:
        if who == CREATOR and isinstance(parcel[0], msg.Closed | msg.Settled):
            world = on_context_message(world, parcel, bounds, rules)
        else:
            world = send(world, [parcel], bounds)
    return world


def creator_did(world: World, result: rel.Step, bounds: Bounds, rules: AutogradRules) -> World:
    """Put the creator's record of the release back, send what it sends, and do at once what it tells itself.

    A creator that has forgotten the context says no second farewell, whatever still arrives.
    """
    if world.workers[CREATOR].context is not wrk.Context.CLOSED:
        return world
    record, sends, own = result
    world = send(world._replace(release=record), sends, bounds)
    return world if own is None else on_context_message(world, own, bounds, rules)
