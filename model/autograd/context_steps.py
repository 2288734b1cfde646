"""The steps of a context: calls are made and arrive, and in the end it is released. The reasons are in `release.py`."""

from __future__ import annotations

from typing import assert_never

from farref.model.autograd import messages as msg
from farref.model.autograd import release as rel
from farref.model.autograd import worker as wrk
from farref.model.autograd.addressing import send
from farref.model.autograd.ids import CREATOR, PairId
from farref.model.autograd.pass_steps import fail_pass
from farref.model.autograd.root import is_active
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.worker import Context
from farref.model.autograd.world import Bounds, World, graph_of, pass_of, put_worker, spend
from farref.model.ids import WorkerId


def send_tensors(world: World, pair: PairId, bounds: Bounds, *, attached: bool) -> World | None:
    """Make a call, or return from one, once what it depends on has come."""
    if world.graph is None:
        return None
    graph = graph_of(world, bounds)
    source = graph.pairs[pair].source
    worker = world.workers[source]
    if worker.context is not Context.OPEN or pair in worker.sent or (source == CREATOR and world.released):
        return None
    if not all(one in worker.got for one in graph.inputs[pair]):
        return None
    if not attached:
        spent = spend(world, "detached")
        if spent is None:
            return None
        world = spent._replace(detached=spent.detached.add(pair))
    world = put_worker(world, source, wrk.record_send(worker, pair, attached))
    return send(world, [(msg.ForwardCall(pair), attached)], bounds)


def on_context_message(
    world: World, message: msg.ContextMessage | msg.ForwardCall, content: object, bounds: Bounds, rules: AutogradRules
) -> World:
    """Hand a call, or a message about the release, to the one it is meant for."""
    match message:
        case msg.ForwardCall(pair):
            return _on_forward_call(world, pair, content is True, bounds, rules)
        case msg.CleanupContext(who):
            return _on_cleanup(world, who, bounds, rules)
        case msg.Closed(who):
            assert isinstance(content, rel.Calls), "who closes tells its calls"
            return _on_closed(world, who, content, bounds, rules)
        case msg.Settled(pair):
            return _on_settled(world, pair, bounds, rules)
        case msg.Forget(who):
            return _on_forget(world, who, content, rules)
        case _:
            assert_never(message)


def _on_forward_call(world: World, pair: PairId, attached: bool, bounds: Bounds, rules: AutogradRules) -> World:
    target = graph_of(world, bounds).pairs[pair].target
    worker = world.workers[target]
    if worker.context is Context.CLOSED:
        return _tell_settled(world, target, msg.Settled(pair), bounds, rules)
    if CREATOR in worker.mourned:
        return world  # refused: nobody is left who would release the context (A21)
    return put_worker(world, target, wrk.on_forward_call(worker, pair, attached, rules))


def fail_call(world: World, pair: PairId, bounds: Bounds, rules: AutogradRules) -> World:
    """Tell the sender of a call that it failed: its send stays recorded, and no gradient will come for it (A9)."""
    source = graph_of(world, bounds).pairs[pair].source
    worker = world.workers[source]
    if source in world.dead:
        return world  # there is nobody to tell
    if worker.context is Context.CLOSED:
        return _tell_settled(world, source, msg.Settled(pair, failed=True), bounds, rules)
    return put_worker(world, source, worker._replace(failed=worker.failed.add(pair)))


def _tell_settled(world: World, who: WorkerId, settled: msg.Settled, bounds: Bounds, rules: AutogradRules) -> World:
    if who == CREATOR:
        return _on_settled(world, settled.pair, bounds, rules)
    return send(world, [(settled, True)], bounds)


# -- release -----------------------------------------------------------------------------------------------------------


def release_context(world: World, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Release the context, from the worker that opened it (A24)."""
    if world.released or world.graph is None or CREATOR in world.dead:
        return None
    return _close(world._replace(released=True), CREATOR, bounds, rules)


def _on_cleanup(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    if not rules.forgets_when_drained and world.workers[who].context is not Context.OPEN:
        return world
    return _close(world, who, bounds, rules)


def _close(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Close the context on one worker, and tell the creator; without `forgets_when_drained`, forget it at once."""
    if rules.release_ends_passes:
        world = end_own_passes(world, who, wrk.Fault.RELEASED, who, bounds, rules)
    worker = world.workers[who]
    if not rules.forgets_when_drained:
        world = put_worker(world, who, rel.forget(worker, rules))
        return send(world, rel.flood(worker, graph_of(world, bounds)), bounds)
    closed = rel.close(worker, rules)
    world = put_worker(world, who, closed)
    if who == CREATOR:
        return _on_closed(world, who, rel.accounts(closed), bounds, rules)
    return send(world, rel.say_closed(closed, who), bounds)


def end_own_passes(
    world: World, who: WorkerId, fault: wrk.Fault, blamed: WorkerId, bounds: Bounds, rules: AutogradRules
) -> World:
    """Fail every pass that a worker is the root of and that is not decided (A24)."""
    for number in bounds.pass_ids:
        record = pass_of(world, number)
        if record.root == who and is_active(record):
            world = fail_pass(world, number, fault, blamed, bounds, rules)
    return world


def _on_closed(world: World, who: WorkerId, calls: rel.Calls, bounds: Bounds, rules: AutogradRules) -> World:
    record, sends = rel.on_closed(world.release, who, calls, graph_of(world, bounds))
    return forget_if_drained(send(world._replace(release=record), sends, bounds), bounds, rules)


def _on_settled(world: World, pair: PairId, bounds: Bounds, rules: AutogradRules) -> World:
    return forget_if_drained(world._replace(release=rel.settle(world.release, pair)), bounds, rules)


def _on_forget(world: World, who: WorkerId, dead: object, rules: AutogradRules) -> World:
    """Forget the context, and take nothing more of those that the creator knows to be dead (A21)."""
    worker = rel.forget(world.workers[who], rules)
    assert isinstance(dead, frozenset), "who says farewell names the dead"
    for one in sorted(dead):
        worker = worker._replace(mourned=worker.mourned.add(one))
    return put_worker(world, who, worker)


def forget_if_drained(world: World, bounds: Bounds, rules: AutogradRules) -> World:
    """Have everyone forget the context once nothing of it is under way (A25)."""
    creator = world.workers[CREATOR]
    if not creator.mourned.is_empty():  # who only knew the context from somebody dead would never be named
        record, sends = rel.ask(world.release, set(bounds.worker_ids) - set(creator.mourned.members()))
        world = send(world._replace(release=record), sends, bounds)
    if not rel.is_drained(world.release, creator.mourned, graph_of(world, bounds)):
        return world
    world = put_worker(world, CREATOR, rel.forget(creator, rules))
    return send(world, rel.farewell(world.release, creator.mourned), bounds)
