"""A context on one worker: opened, used, closed and forgotten. Everything that changes it is here, except for passes.

Theory of operation. A context is opened by the application on one worker, the creator, and by the first call that carries
its id on every other (A8). Which ends of a pair are recorded is decided once, by the worker that sends the tensors (A7).

A call may arrive long after the context was released, and whoever has forgotten the id would take it for a new one. So a
release has two steps (A24, A25). A worker that *closes* drops everything but the id, sends no further call, and tells the
creator which calls it sent and which it got; of each call that arrives later or fails later it tells the creator too. The
creator finds out when none is under way (`release.py`), and then everyone *forgets*.

Each handler gets the worker's record and gives back the record and the messages to send. What a worker does in a pass is in
`task.py`.

Not pretty: `resurrected` and the phase GONE are history, kept for properties. To a worker, GONE is ABSENT.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from farref.model.actions import FailCall, Install
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, NO_PASS, PairId, PassId
from farref.model.autograd.rules import AutogradRules
from farref.model.ids import WorkerId
from farref.model.tables import stays, to, transitions
from farref.model.values import IdSet, Table, no_ids


class Context(IntEnum):
    """The life of a context on one worker."""

    ABSENT = 0  # not in the table
    OPEN = 1
    CLOSED = 2  # released: keeps its id and its counts, and nothing else
    GONE = 3  # no longer in the table


ABSENT, OPEN, CLOSED, GONE = Context

# fmt: off
TRANSITIONS: Final = transitions(
    # event               in phase                      may lead to, and send
    (act.SendTensors,     (OPEN,),                      stays(msg.ForwardCall)),
    (act.SendDetached,    (OPEN,),                      stays(msg.ForwardCall)),
    (msg.ForwardCall,     (ABSENT,),                    to(OPEN) | stays()),
    (msg.ForwardCall,     (OPEN, GONE),                 stays()),
    (msg.ForwardCall,     (CLOSED,),                    stays(msg.Settled)),
    (FailCall,        (OPEN, GONE),                 stays()),
    (FailCall,        (CLOSED,),                    stays(msg.Settled)),
    (act.ReleaseContext,  (OPEN,),                      to(CLOSED, msg.Closed)),
    (msg.CleanupContext,  (ABSENT, OPEN),               to(CLOSED, msg.Closed)),
    (msg.Forget,          (CLOSED,),                    to(GONE) | stays()),
    (act.Notice,          (OPEN, CLOSED),               to(GONE)),
    (Install,         (OPEN, CLOSED),               to(GONE)),
    (act.Fence,           (ABSENT, OPEN, CLOSED, GONE), to(GONE)),
    (act.Crash,           (ABSENT, OPEN, CLOSED, GONE), to(GONE)),
)
# fmt: on
"""What can happen to a context where all rules are followed. A call is refused once the creator is known to be dead."""


class Task(NamedTuple):
    """A worker's part in a pass (A11)."""

    number: PassId  # NO_PASS if it takes part in none
    seed: int  # the gradient of the root, 0 if that is elsewhere
    expected: IdSet  # the sends it waits for
    arrivals: Table[int]  # by pair: the gradients that came
    totals: Table[int]  # by pair: their sum
    marked: IdSet  # the sends that a gradient will come for, as far as is known (SMART)
    staged: int | None  # the gradient of the leaf, kept aside


class Worker(NamedTuple):
    """What a worker knows of a context (A8)."""

    context: Context
    sends: IdSet
    recvs: IdSet
    sent: IdSet  # the calls it sent in this context, with or without a pair
    got: IdSet  # the calls it received
    failed: IdSet  # the calls it sent that nobody received
    gradient: int | None  # of its leaf, as `get_gradients` shows it
    task: Task
    newest: Table[PassId]  # by root: the newest pass it heard of
    mourned: IdSet  # the workers that were declared dead to it
    unheard: IdSet  # those it still has to exclude before it may forget the id (A29)
    resurrected: bool = False  # the context came back after it was gone


Step = tuple[Worker, tuple[msg.ContextParcel, ...]]


def no_task(pairs: int) -> Task:
    """Make the task of a worker that is in no pass."""
    zeros = Table((0,) * pairs)
    return Task(NO_PASS, 0, no_ids(pairs), zeros, zeros, no_ids(pairs), None)


def stranger(workers: int, pairs: int) -> Worker:
    """Make the record of a worker that has not heard of the context."""
    none = no_ids(pairs)
    newest, nobody = Table((NO_PASS,) * workers), no_ids(workers)
    return Worker(Context.ABSENT, none, none, none, none, none, None, no_task(pairs), newest, nobody, nobody)


def is_listed(worker: Worker) -> bool:
    """Say whether the context is in the worker's table."""
    return worker.context in (Context.OPEN, Context.CLOSED)


# -- recording ---------------------------------------------------------------------------------------------------------


def send_tensors(worker: Worker, pair: PairId, inputs: Iterable[PairId], *, attached: bool) -> Step | None:
    """Make a call, or return from one, once what it depends on has come (A8)."""
    if worker.context is not Context.OPEN or pair in worker.sent or not all(one in worker.got for one in inputs):
        return None
    return record_send(worker, pair, attached), ((msg.ForwardCall(pair), attached),)


def record_send(worker: Worker, pair: PairId, attached: bool) -> Worker:
    """Note a call before it leaves; with tensors that need a gradient, record its send (A8)."""
    sends = worker.sends.add(pair) if attached else worker.sends
    return worker._replace(sent=worker.sent.add(pair), sends=sends)


def on_forward_call(worker: Worker, pair: PairId, attached: bool, rules: AutogradRules) -> Step:
    """Open the context if need be, and record the recv as the sender decided (A7)."""
    if worker.context is Context.CLOSED:
        return worker, ((msg.Settled(pair), True),)
    if CREATOR in worker.mourned:
        return worker, ()  # refused: nobody is left who would release the context (A21)
    came_back = worker.context is Context.GONE
    recorded = attached or not rules.sender_decides_pairing
    recvs = worker.recvs.add(pair) if recorded else worker.recvs
    opened = worker._replace(context=Context.OPEN, recvs=recvs, got=worker.got.add(pair))
    return opened._replace(resurrected=True) if came_back else opened, ()


def on_call_failed(worker: Worker, pair: PairId) -> Step:
    """Learn that a call failed: its send stays recorded, and no gradient will come for it (A9)."""
    if worker.context is Context.CLOSED:
        return worker, ((msg.Settled(pair, failed=True), True),)
    return worker._replace(failed=worker.failed.add(pair)), ()


# -- release -----------------------------------------------------------------------------------------------------------


def close(worker: Worker, who: WorkerId, graph: Graph, rules: AutogradRules) -> Step:
    """Drop everything but the id and the counts, leave the pass that runs, and tell the creator (A24)."""
    if not rules.forgets_when_drained:
        return _forget_at_once(worker, graph, rules)
    empty = stranger(len(worker.newest), len(worker.sends))
    task = empty.task if rules.release_ends_passes else worker.task
    kept = empty._replace(context=Context.CLOSED, sent=worker.sent, got=worker.got, failed=worker.failed, task=task)
    return kept._replace(mourned=worker.mourned), ((msg.Closed(who), _calls(worker)),)


def _calls(worker: Worker) -> msg.Calls:
    settled = {*worker.got.members(), *worker.failed.members()}
    return msg.Calls(frozenset(map(PairId, worker.sent.members())), frozenset(map(PairId, settled)))


def _forget_at_once(worker: Worker, graph: Graph, rules: AutogradRules) -> Step:
    """Forget, and tell those that calls were sent to: what PyTorch does. Only without `forgets_when_drained`."""
    if worker.context is not Context.OPEN:
        return worker, ()
    targets = sorted({graph.pairs[pair].target for pair in graph.pair_ids if pair in worker.sent})
    return _forget(worker, rules), tuple((msg.CleanupContext(target), True) for target in targets)


def on_forget(worker: Worker, rules: AutogradRules) -> Step:
    """Drop the id too (A25). The dead that the creator names are taken for dead in a step like any other (A21)."""
    return _forget(worker, rules), ()


def on_farewell(worker: Worker, dead: msg.Dead, rules: AutogradRules) -> Step:
    """Drop the id once nothing is heard any more of those that the creator does not hear (A25, A29)."""
    unheard = [one for one in sorted(dead) if one not in worker.mourned]
    if not unheard or not rules.keeps_the_id_until_unheard:
        return _forget(worker, rules), ()
    waits = worker.unheard
    for one in unheard:
        waits = waits.add(one)
    return worker._replace(unheard=waits), ()


def has_heard_the_last(worker: Worker) -> bool:
    """Say whether a worker waits to forget an id, and need not wait any more (A29)."""
    return not worker.unheard.is_empty() and all(one in worker.mourned for one in worker.unheard.members())


def on_creator_died(worker: Worker, rules: AutogradRules) -> Step:
    """Drop a context that nobody is left to release (A21)."""
    return _forget(worker, rules), ()


def _forget(worker: Worker, rules: AutogradRules) -> Worker:
    empty = stranger(len(worker.newest), len(worker.sends))._replace(context=Context.GONE, mourned=worker.mourned)
    task = empty.task if rules.release_ends_passes else worker.task
    return empty._replace(resurrected=worker.resurrected, task=task)


def die(worker: Worker) -> Step:
    """Take everything along that one knew (A21)."""
    return stranger(len(worker.newest), len(worker.sends))._replace(context=Context.GONE), ()


# -- taking part -------------------------------------------------------------------------------------------------------


def leave(worker: Worker) -> Worker:
    """Take part in no pass any more."""
    return worker._replace(task=no_task(len(worker.sends)))


def is_in_a_pass(worker: Worker) -> bool:
    """Say whether a worker takes part in a pass."""
    return worker.task.number != NO_PASS
