"""The steps of a pass: from `backward` to commit or abort. What is decided is decided in `worker.py` and `root.py`."""

from __future__ import annotations

from typing import assert_never

from farref.model.autograd import messages as msg
from farref.model.autograd import root as rt
from farref.model.autograd import task as tsk
from farref.model.autograd import worker as wrk
from farref.model.autograd.addressing import receiver_of, send
from farref.model.autograd.graphs import Recv, Root
from farref.model.autograd.ids import CREATOR, PassId
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, graph_of, pass_of, put_pass, put_worker, root_of, seed_of, spend
from farref.model.ids import WorkerId


def begin_pass(world: World, who: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Call `backward`; None where it is refused: no such context, nothing to begin with, or a pass at hand (A10)."""
    number = _next_pass(world, bounds)
    if number is None or world.graph is None or not _may_begin(world, who, bounds):
        return None
    worker, sends, told = tsk.begin(world.workers[who], who, number, seed_of(number), graph_of(world, bounds), rules)
    assert told is not None, "a pass that begins has something to tell"
    record = rt.enter(rt.begin(pass_of(world, number), who), who, None, told)
    begun = put_pass(put_worker(world, who, worker), number, record)
    return decide(send(begun, sends, bounds), number, bounds, rules)


def _next_pass(world: World, bounds: Bounds) -> PassId | None:
    return next((number for number in bounds.pass_ids if pass_of(world, number).phase is rt.Phase.IDLE), None)


def _may_begin(world: World, who: WorkerId, bounds: Bounds) -> bool:
    graph, worker = graph_of(world, bounds), world.workers[who]
    if who not in graph.roots or worker.context is not wrk.Context.OPEN or wrk.is_in_a_pass(worker):
        return False
    if who == CREATOR and world.released:
        return False  # the application has let go of the context, whatever is left of it here
    if any(one.root == who and one.phase < rt.Phase.SUCCEEDED for one in world.passes):
        return False
    used = [flow.exit.pair for flow in graph.flows if flow.entry == Root(who) and isinstance(flow.exit, Recv)]
    return all(pair in worker.got for pair in used)


def on_pass_message(
    world: World,
    message: msg.PassMessage,
    content: object,
    bounds: Bounds,
    rules: AutogradRules,
    *,
    raises: bool = False,
) -> World:
    """Hand a message of a pass to the one it is meant for."""
    match message:
        case msg.Report(of):
            assert isinstance(content, wrk.Told), "a report tells something"
            return on_report(world, of, content, bounds, rules)
        case msg.Commit(number, who):
            committed = put_worker(world, who, tsk.on_commit(world.workers[who], number, rules))
            return send(committed, [(msg.Committed(number, who), True)], bounds)
        case msg.Committed(number, who):
            return put_pass(world, number, rt.on_committed(pass_of(world, number), who, rules))
        case msg.Abort(number, who):
            return put_worker(world, who, tsk.on_abort(world.workers[who], number, rules))
        case msg.PropagateGradients() | msg.Mark() | msg.Seek() | msg.Resume():
            return _on_counted(world, message, content, bounds, rules, raises=raises)
        case _:
            assert_never(message)


def _on_counted(
    world: World, message: msg.Counted, content: object, bounds: Bounds, rules: AutogradRules, *, raises: bool
) -> World:
    who, root = receiver_of(world, message, bounds), root_of(world, message.number)
    worker, sends, told = _handle(world, message, content, who, root, bounds, rules, raises=raises)
    world = send(put_worker(world, who, worker), sends, bounds)
    if told is None:
        return world
    if who == root:
        return on_report(world, message, told, bounds, rules)
    return send(world, [(msg.Report(message), told)], bounds)


def _handle(
    world: World,
    message: msg.Counted,
    content: object,
    who: WorkerId,
    root: WorkerId,
    bounds: Bounds,
    rules: AutogradRules,
    *,
    raises: bool,
) -> wrk.Step:
    worker, graph = world.workers[who], graph_of(world, bounds)
    match message:
        case msg.PropagateGradients() if raises:
            return tsk.on_gradients_raising(worker, message, root, rules)
        case msg.PropagateGradients():
            assert isinstance(content, int), "a gradient is a number"
            return tsk.on_gradients(worker, who, message, content, root, graph, rules)
        case msg.Mark():
            return tsk.on_mark(worker, who, message, root, graph, rules)
        case msg.Seek(number):
            return tsk.on_seek(worker, who, number, graph, rules)
        case msg.Resume(number):
            return tsk.on_resume(worker, who, number, graph, rules)
        case _:
            assert_never(message)


def on_report(world: World, of: msg.Counted, told: wrk.Told, bounds: Bounds, rules: AutogradRules) -> World:
    """Enter a report into the ledger, fail with it, or answer one that comes too late (A14, A18, A19)."""
    number, who = of.number, receiver_of(world, of, bounds)
    record = pass_of(world, number)
    if not rt.is_active(record):
        return _answer_latecomer(world, number, who, told, bounds, rules)
    if told.fault is wrk.Fault.UNPAIRED:
        world = put_pass(world, number, record._replace(engaged=record.engaged.add(who)))
    if told.fault is not wrk.Fault.NONE:
        return fail_pass(world, number, told.fault, who, bounds, rules)
    return decide(put_pass(world, number, rt.enter(record, who, of, told)), number, bounds, rules)


def _answer_latecomer(
    world: World, number: PassId, who: WorkerId, told: wrk.Told, bounds: Bounds, rules: AutogradRules
) -> World:
    """Tell a worker that its pass is over; once is enough, and who refused the pass need not be told (A19)."""
    record = pass_of(world, number)
    takes_part = told.fault in (wrk.Fault.NONE, wrk.Fault.UNPAIRED)
    if not rules.answers_latecomers or not takes_part or who in record.engaged or who == record.root:
        return world
    world = put_pass(world, number, record._replace(engaged=record.engaged.add(who)))
    return send(world, [(msg.Abort(number, who), True)], bounds)


def decide(world: World, number: PassId, bounds: Bounds, rules: AutogradRules) -> World:
    """Go on with a pass that has come to a standstill (A14 to A17)."""
    record = pass_of(world, number)
    if not rt.is_active(record):
        return world
    dead = _dead_in(world, record, bounds)
    if dead is not None:
        return fail_pass(world, number, wrk.Fault.DIED, dead, bounds, rules)
    if not rt.is_at_standstill(record):
        return world
    missing = rt.missing(record)
    if record.phase is rt.Phase.RESUMED or not missing:
        return _commit(world, number, bounds, rules)
    if not rules.notices_standstill:
        return world
    if not bounds.smart:
        blamed = graph_of(world, bounds).pairs[missing[0]].source
        return fail_pass(world, number, wrk.Fault.UNREACHED, blamed, bounds, rules)
    if record.phase is rt.Phase.RUNNING and rules.marks_before_pruning:
        return _ask(world, number, msg.Seek, rt.Phase.MARKING, bounds, rules)
    return _ask(world, number, msg.Resume, rt.Phase.RESUMED, bounds, rules)


def _dead_in(world: World, record: rt.Pass, bounds: Bounds) -> WorkerId | None:
    """Find a worker that its root knows to be dead and that takes part, or has been sent something (A21)."""
    assert record.root is not None, "a pass that has begun has a root"
    pairs, awaited = graph_of(world, bounds).pairs, rt.awaited(record)
    for dead in map(WorkerId, world.workers[record.root].mourned.members()):
        if dead in record.engaged or any(pairs[pair].source == dead for pair in awaited):
            return dead
    return None


def _ask(
    world: World,
    number: PassId,
    kind: type[msg.Seek | msg.Resume],
    phase: rt.Phase,
    bounds: Bounds,
    rules: AutogradRules,
) -> World:
    """Ask everyone who takes part, and oneself without a message (A16)."""
    record, sends = rt.ask_everyone(pass_of(world, number)._replace(phase=phase), kind, number)
    world = send(put_pass(world, number, record), sends, bounds)
    root = record.root
    assert root is not None, "a pass that has begun has a root"
    worker, more, told = _handle(world, kind(number, root), True, root, root, bounds, rules, raises=False)
    world = send(put_worker(world, root, worker), more, bounds)
    if told is not None:
        world = put_pass(world, number, rt.enter(record, root, None, told))
    return decide(world, number, bounds, rules)


def _commit(world: World, number: PassId, bounds: Bounds, rules: AutogradRules) -> World:
    record, sends = rt.commit(pass_of(world, number), number, rules)
    world = send(put_pass(world, number, record), sends, bounds)
    root = record.root
    assert root is not None, "a pass that has begun has a root"
    return put_worker(world, root, tsk.on_commit(world.workers[root], number, rules))


def fail_pass(
    world: World, number: PassId, fault: wrk.Fault, blamed: WorkerId, bounds: Bounds, rules: AutogradRules
) -> World:
    """Raise from `backward`: the root leaves the pass at once, the others as they hear of it (A18)."""
    record, sends = rt.fail(pass_of(world, number), number, fault, blamed, rules)
    world = send(put_pass(world, number, record), sends, bounds)
    root = record.root
    assert root is not None, "a pass that has begun has a root"
    return put_worker(world, root, tsk.on_abort(world.workers[root], number, rules))


def time_out(world: World, number: PassId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Give up a pass, if it is not decided (A20)."""
    record = pass_of(world, number)
    is_too_late = record.phase is not rt.Phase.COMMITTING or rules.decision_is_final
    if record.root is None or record.root in world.dead or (not rt.is_active(record) and is_too_late):
        return None
    spent = spend(world, "timeouts")
    return spent and fail_pass(spent, number, wrk.Fault.TIMED_OUT, record.root, bounds, rules)
