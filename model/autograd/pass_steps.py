"""The steps of a pass: from `backward` to commit or abort. What is decided is decided in `task.py` and `root.py`.

A step finds the record, hands it to its handler, puts it back and sends. A root that takes part in its own pass reports to
itself, and answers its own questions, at once and without a message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from farref.model.autograd import messages as msg
from farref.model.autograd import root as rt
from farref.model.autograd import task as tsk
from farref.model.autograd.addressing import receiver_of, send
from farref.model.autograd.ids import CREATOR, PassId
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import (
    Bounds,
    World,
    graph_of,
    pass_of,
    put_pass,
    put_worker,
    root_of,
    seed_of,
    spend,
)
from farref.model.ids import WorkerId


def begin_pass(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Call `backward`; None where it is refused (A10)."""
    number = next((one for one in bounds.pass_ids if pass_of(world, one).phase is rt.Phase.IDLE), None)
    if number is None or world.graph is None or not rt.may_begin(world.passes, who):
        return None
    if who == CREATOR and world.released:
        return None  # the application has let go of the context, whatever is left of it here
    begun = tsk.begin(world.workers[who], who, number, seed_of(number), graph_of(world, bounds), rules)
    if begun is None:
        return None
    worker, sends, told = begun
    world = send(put_worker(world, who, worker), sends, bounds)
    setting = _setting(world, number, who, bounds, rules)
    return _root_did(world, rt.begin(pass_of(world, number), who, told, setting), setting, bounds)


def time_out(world: World, number: PassId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Give up a pass, if it is not decided (A20)."""
    record = pass_of(world, number)
    if record.root is None or record.root in world.dead:
        return None
    setting = _setting(world, number, record.root, bounds, rules)
    given_up, spent = rt.time_out(record, setting), spend(world, "timeouts")
    return None if given_up is None or spent is None else _root_did(spent, given_up, setting, bounds)


def on_pass_message(world: World, parcel: msg.PassParcel, bounds: Bounds, rules: AutogradRules) -> World:
    """Hand a message of a pass to the one it is meant for."""
    match parcel:
        case (msg.Report(of), told):
            return _on_report(world, of, told, bounds, rules)
        case (msg.Committed(number, who), _):
            setting = _setting(world, number, root_of(world, number), bounds, rules)
            return _root_did(world, rt.on_committed(pass_of(world, number), who, setting), setting, bounds)
        case (msg.Commit(number, who), _):
            committed = put_worker(world, who, tsk.on_commit(world.workers[who], number, rules))
            return send(committed, [(msg.Committed(number, who), True)], bounds)
        case (msg.Abort(number, who), _):
            return put_worker(world, who, tsk.on_abort(world.workers[who], number, rules))
        case _:
            return _worker_did(world, parcel[0], _on_counted(world, parcel, bounds, rules), bounds, rules)


def _on_counted(world: World, parcel: msg.CountedParcel, bounds: Bounds, rules: AutogradRules) -> tsk.Step:
    """Hand a counted message to the worker it goes to."""
    graph, root, who = graph_of(world, bounds), root_of(world, parcel[0].number), receiver_of(world, parcel[0], bounds)
    worker = world.workers[who]
    match parcel:
        case (msg.PropagateGradients() as message, value):
            return tsk.on_gradients(worker, who, message, value, root, graph, rules)
        case (msg.Mark() as message, _):
            return tsk.on_mark(worker, who, message, root, graph, rules)
        case (msg.Seek(number), _):
            return tsk.on_seek(worker, who, number, graph, rules)
        case (msg.Resume(number), _):
            return tsk.on_resume(worker, who, number, graph, rules)
        case _:
            assert_never(parcel)


def raise_in_pass(world: World, message: msg.PropagateGradients, bounds: Bounds, rules: AutogradRules) -> World:
    """Let the backward rule that takes a gradient raise an exception (A18)."""
    worker, root = world.workers[receiver_of(world, message, bounds)], root_of(world, message.number)
    return _worker_did(world, message, tsk.on_gradients_raising(worker, message, root, rules), bounds, rules)


def at_own_passes(
    world: World,
    who: WorkerId,
    handler: Callable[[rt.Pass, rt.Setting], rt.Step],
    bounds: Bounds,
    rules: AutogradRules,
) -> World:
    """Let something happen to every pass that a worker is the root of."""
    for number in bounds.pass_ids:
        if pass_of(world, number).root == who:
            setting = _setting(world, number, who, bounds, rules)
            world = _root_did(world, handler(pass_of(world, number), setting), setting, bounds)
    return world


# -- what the steps share ----------------------------------------------------------------------------------------------


def _worker_did(world: World, of: msg.Counted, result: tsk.Step, bounds: Bounds, rules: AutogradRules) -> World:
    """Put a worker's record back, send what it sends, and report to the root."""
    who = receiver_of(world, of, bounds)
    is_root = who == root_of(world, of.number)
    worker, sends, told = result if is_root else tsk.unless_lost(result, graph_of(world, bounds))
    world = send(put_worker(world, who, worker), sends, bounds)
    if told is None:
        return world
    if is_root:
        return _on_report(world, of, told, bounds, rules)
    return send(world, [(msg.Report(of), told)], bounds)


def _on_report(world: World, of: msg.Counted, told: msg.Told, bounds: Bounds, rules: AutogradRules) -> World:
    record, who = pass_of(world, of.number), receiver_of(world, of, bounds)
    setting = _setting(world, of.number, root_of(world, of.number), bounds, rules)
    return _root_did(world, rt.on_report(record, of, who, told, setting), setting, bounds)


def _root_did(world: World, result: rt.Step, setting: rt.Setting, bounds: Bounds) -> World:
    """Put the root's record of a pass back, send what it sends, and do at once what it tells itself."""
    record, sends, own = result
    number, rules = setting.number, setting.rules
    world = send(put_pass(world, number, record), sends, bounds)
    if own is None:
        return world
    worker = world.workers[own.worker]
    match own:
        case msg.Commit():
            return put_worker(world, own.worker, tsk.on_commit(worker, number, rules))
        case msg.Abort():
            return put_worker(world, own.worker, tsk.on_abort(worker, number, rules))
        case msg.Seek() | msg.Resume():
            after, more, told = _on_counted(world, (own, True), bounds, rules)
            world = send(put_worker(world, own.worker, after), more, bounds)
            return _root_did(world, rt.on_own_answer(record, told, setting), setting, bounds)
        case _:
            assert_never(own)


def _setting(world: World, number: PassId, root: WorkerId, bounds: Bounds, rules: AutogradRules) -> rt.Setting:
    return rt.Setting(number, graph_of(world, bounds), bounds.smart, world.workers[root].mourned, rules)
