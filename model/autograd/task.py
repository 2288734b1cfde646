"""A worker's part in a pass. Everything that changes it is in this file.

Theory of operation. A worker takes part in a pass from the first message of it that arrives until it is told how the pass
ended. In between it keeps a *task*: which of its sends it waits for, what has come, and the gradient of its parameter, kept
aside. A recv sends its gradient on, and a leaf has its gradient, when everything that leads into it has come: not earlier,
as sums would be wrong, and not all at once either, as workers may depend on each other in both directions (A13).

What makes this hard is that a worker cannot see which of its sends will get a gradient: a result may be unused on another
worker. It waits for all of them, and it is the root that finds out whether that was right (`root.py`).

The other difficulty is time. A gradient may arrive long after its pass has failed, and then there may be a newer pass.
Every message therefore names its pass, and the passes of one root are numbered: an older one is over, a newer one means
that the one at hand is over (A12). That needs one number for each root, and no memory of what has ended.

Each handler gets the worker's record and gives back the record, the messages to send, and what to tell the root (None:
nothing, as the pass is over for this worker).
"""

from __future__ import annotations

from farref.model.autograd.graphs import Entry, Exit, Graph, Leaf, Recv, Root, Send
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.messages import Fault, Gradient, Mark, PassParcel, PropagateGradients, Told
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.worker import Context, Task, Worker, is_in_a_pass, leave, no_task
from farref.model.ids import WorkerId

Done = tuple[Worker, tuple[PassParcel, ...], Told]
Step = tuple[Worker, tuple[PassParcel, ...], Told | None]

# -- in a pass ---------------------------------------------------------------------------------------------------------


def begin(worker: Worker, who: WorkerId, number: PassId, seed: int, graph: Graph, rules: AutogradRules) -> Done | None:
    """Begin a pass here: the root is the first gradient. Refused without a context, in a pass, or with nothing come (A10)."""
    if who not in graph.roots or worker.context is not Context.OPEN or is_in_a_pass(worker):
        return None
    used = [flow.exit.pair for flow in graph.flows if flow.entry == Root(who) and isinstance(flow.exit, Recv)]
    if not all(pair in worker.got for pair in used):
        return None
    engaged = _engage(worker, number, who)
    begun = engaged._replace(task=engaged.task._replace(seed=seed))
    return _advance(engaged, begun, who, number, graph, rules)


def on_gradients(
    worker: Worker,
    who: WorkerId,
    message: PropagateGradients,
    value: Gradient,
    root: WorkerId,
    graph: Graph,
    rules: AutogradRules,
) -> Step:
    """Take a gradient in, and send on what it completes (A13)."""
    worker, fault, is_over = _admit(worker, message.number, root, rules)
    if is_over:
        return worker, (), None
    if fault is Fault.NONE and message.pair not in worker.sends:
        fault = Fault.UNPAIRED
    if fault is not Fault.NONE:
        return worker, (), _refusal(fault)
    task, pair = worker.task, message.pair
    arrived = task._replace(
        arrivals=task.arrivals.put(pair, task.arrivals[pair] + 1),
        totals=task.totals.put(pair, task.totals[pair] + value),
    )
    return _advance(worker, worker._replace(task=arrived), who, message.number, graph, rules)


def on_gradients_raising(worker: Worker, message: PropagateGradients, root: WorkerId, rules: AutogradRules) -> Step:
    """Fail at a gradient: a backward rule raised. The worker leaves the pass, and tells the root (A18)."""
    worker, fault, is_over = _admit(worker, message.number, root, rules)
    if is_over:
        return worker, (), None
    if fault is not Fault.NONE:
        return worker, (), _refusal(fault)
    return leave(worker), (), Told(fault=Fault.RAISED)


def on_seek(worker: Worker, who: WorkerId, number: PassId, graph: Graph, rules: AutogradRules) -> Step:
    """Mark what the gradients lead to that this worker has begun to add up and cannot send yet (A16)."""
    task = worker.task
    if not _is_about(task, number, rules):
        return worker, (), _excuse(worker)
    begun = [
        exit_ for exit_ in _exits(worker, who, graph) if _come(task, exit_, graph) and not is_ready(task, exit_, graph)
    ]
    return worker, *_mark(worker, number, begun)


def on_mark(worker: Worker, who: WorkerId, message: Mark, root: WorkerId, graph: Graph, rules: AutogradRules) -> Step:
    """Learn that a gradient will come for a send, and pass that on to what it leads to (A16)."""
    worker, fault, is_over = _admit(worker, message.number, root, rules)
    if is_over:
        return worker, (), None
    if fault is not Fault.NONE:
        return worker, (), _refusal(fault)
    task = worker.task
    marked = worker._replace(task=task._replace(marked=task.marked.add(message.pair)))
    begun = [
        exit_
        for exit_ in _exits(worker, who, graph)
        if any(flow.entry == Send(message.pair) for flow in graph.into[exit_])
        and not _come(task, exit_, graph)
        and not _is_marked(task, exit_, graph)
    ]
    return marked, *_mark(marked, message.number, begun)


def on_resume(worker: Worker, who: WorkerId, number: PassId, graph: Graph, rules: AutogradRules) -> Step:
    """Give up the sends that are not marked, and send on what waited for them only (A16)."""
    task = worker.task
    if not _is_about(task, number, rules):
        return worker, (), _excuse(worker)
    expected = task.expected
    for pair in graph.pair_ids:
        if pair in expected and not task.arrivals[pair] and pair not in task.marked:
            expected = expected.remove(pair)
    return _advance(worker, worker._replace(task=task._replace(expected=expected)), who, number, graph, rules)


def on_commit(worker: Worker, number: PassId, rules: AutogradRules) -> Worker:
    """Let the gradients of a pass be seen, and leave it (A17)."""
    if not _is_about(worker.task, number, rules):
        return worker
    return leave(_accumulate(worker, worker.task.staged))


def on_abort(worker: Worker, number: PassId, rules: AutogradRules) -> Worker:
    """Leave a pass that is over, with everything that was kept aside (A18)."""
    return leave(worker) if _is_about(worker.task, number, rules) else worker


def unless_lost(step: Step, graph: Graph) -> Step:
    """Let a step stand, unless it would send something to the dead: then the worker leaves, and tells the root (A21)."""
    worker, sends, _ = step
    messages = [message for message, _ in sends if isinstance(message, PropagateGradients | Mark)]
    dead = [source for message in messages if (source := graph.pairs[message.pair].source) in worker.mourned]
    return (leave(worker), (), Told(fault=Fault.DIED, blamed=min(dead))) if dead else step


# -- what the handlers share -------------------------------------------------------------------------------------------


def _admit(worker: Worker, number: PassId, root: WorkerId, rules: AutogradRules) -> tuple[Worker, Fault, bool]:
    """Let the worker take part in the pass of a message, or say why not, or that this pass is over (A10 to A12)."""
    if worker.context is not Context.OPEN:
        return worker, _absence(worker), False
    if not rules.passes_have_identity:
        return worker if is_in_a_pass(worker) else _engage(worker, number, root), Fault.NONE, False
    if worker.task.number == number:
        return worker, Fault.NONE, False
    if number <= worker.newest[root] or root in worker.mourned:
        return worker, Fault.NONE, True
    if is_in_a_pass(worker):
        is_same_root = worker.task.number == worker.newest[root]
        refuses = rules.one_pass_at_a_time if not is_same_root else not rules.newer_pass_supersedes
        if refuses:
            return worker, Fault.BUSY, False
    return _engage(worker, number, root), Fault.NONE, False


def _engage(worker: Worker, number: PassId, root: WorkerId) -> Worker:
    """Begin to take part in a pass: wait for every send there is now (A11)."""
    task = no_task(len(worker.sends))._replace(number=number, expected=worker.sends)
    return worker._replace(task=task, newest=worker.newest.put(root, number))


def _absence(worker: Worker) -> Fault:
    """Say why a worker has no context: it was released, or its creator died (A21)."""
    return Fault.DIED if CREATOR in worker.mourned else Fault.RELEASED


def _refusal(fault: Fault) -> Told:
    """Tell the root that the pass cannot go on here. A death that a worker tells of is the creator's (A21)."""
    return Told(fault=fault, blamed=CREATOR if fault is Fault.DIED else None)


def _excuse(worker: Worker) -> Told | None:
    """Tell why a worker that was asked something is not in the pass any more."""
    return None if worker.context is Context.OPEN else _refusal(_absence(worker))


def _is_about(task: Task, number: PassId, rules: AutogradRules) -> bool:
    return task.number == number or not rules.passes_have_identity


def _advance(before: Worker, after: Worker, who: WorkerId, number: PassId, graph: Graph, rules: AutogradRules) -> Done:
    """Send on, or keep aside, every gradient that has become complete; and tell the root."""
    sends: list[tuple[PropagateGradients, int]] = []
    task = after.task
    for exit_ in _exits(after, who, graph):
        if is_ready(before.task, exit_, graph) or not is_ready(task, exit_, graph):
            continue
        value = sum(flow.weight * _total(task, flow.entry) for flow in graph.into[exit_])
        match exit_:
            case Recv(pair):
                sends.append((PropagateGradients(number, pair), value))
            case Leaf():
                after = after._replace(task=task._replace(staged=value))
    told = Told(frozenset(message for message, _ in sends), _waits_for(task))
    return (after if rules.stages_until_commit else _finish_early(after)), tuple(sends), told


def _waits_for(task: Task) -> frozenset[PairId]:
    return frozenset(map(PairId, task.expected.members()))


def _finish_early(worker: Worker) -> Worker:
    """Add the gradient to what is seen at once, and leave when nothing is missing here: only without `stages_until_commit`."""
    shown = _accumulate(worker, worker.task.staged)._replace(task=worker.task._replace(staged=None))
    missing = sum(worker.task.expected) - sum(worker.task.arrivals)
    return shown if missing > 0 else leave(shown)


def _accumulate(worker: Worker, value: int | None) -> Worker:
    return worker if value is None else worker._replace(gradient=(worker.gradient or 0) + value)


def _exits(worker: Worker, who: WorkerId, graph: Graph) -> list[Exit]:
    """List where gradients can leave: the recvs that are recorded, and the leaf."""
    return [exit_ for exit_ in graph.exits[who] if isinstance(exit_, Leaf) or exit_.pair in worker.recvs]


def is_ready(task: Task, exit_: Exit, graph: Graph) -> bool:
    """Say whether everything that leads into an exit has come."""
    come = _come(task, exit_, graph)
    return come > 0 and come == sum(_is_due(task, flow.entry) for flow in graph.into[exit_])


def _come(task: Task, exit_: Exit, graph: Graph) -> int:
    return sum(_arrivals(task, flow.entry) for flow in graph.into[exit_])


def _is_due(task: Task, entry: Entry) -> bool:
    return task.seed != 0 if isinstance(entry, Root) else entry.pair in task.expected


def _arrivals(task: Task, entry: Entry) -> int:
    return int(task.seed != 0) if isinstance(entry, Root) else task.arrivals[entry.pair]


def _total(task: Task, entry: Entry) -> int:
    return task.seed if isinstance(entry, Root) else task.totals[entry.pair]


def _is_marked(task: Task, exit_: Exit, graph: Graph) -> bool:
    return any(isinstance(flow.entry, Send) and flow.entry.pair in task.marked for flow in graph.into[exit_])


def _mark(worker: Worker, number: PassId, exits: list[Exit]) -> tuple[tuple[PassParcel, ...], Told]:
    marks = [Mark(number, exit_.pair) for exit_ in exits if isinstance(exit_, Recv)]
    return tuple((mark, True) for mark in marks), Told(frozenset(marks), _waits_for(worker.task))
