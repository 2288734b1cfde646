"""The creator's side of a release: how a context's id is forgotten, and nothing brings it back. All of it is in this file.

Theory of operation. A call of the context may arrive long after the context was released, and whoever has forgotten the id
would take it for a new one. Remembering every released id for ever is no answer. So a release has two steps (A24, A25). A
worker that *closes* drops everything but the id, sends no further call, and tells the creator which calls it sent and which
it got. The creator balances them as a root balances its ledger: when everyone who was sent a call is closed, and every call
that was sent was received or has failed, none is under way, and none can be sent. Then everyone forgets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, PairId
from farref.model.autograd.messages import CleanupContext, Closed, Forget
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.worker import Context, Parcel, Worker, stranger
from farref.model.ids import WorkerId
from farref.model.values import IdSet, no_ids


class Release(NamedTuple):
    """What the creator knows of the calls of a released context (A25)."""

    asked: IdSet  # the workers it told to close
    closed: IdSet  # those that have closed
    sent: IdSet  # the calls that were sent
    settled: IdSet  # the calls that were received, or have failed


@dataclass(frozen=True, slots=True)
class Calls:
    """What a worker tells of its calls as it closes: those it sent, and those it knows to be under way no more."""

    sent: frozenset[PairId]
    settled: frozenset[PairId]


Step = tuple[Release, tuple[Parcel, ...]]


def no_release(workers: int, pairs: int) -> Release:
    """Make the record of a context that was not released."""
    return Release(no_ids(workers), no_ids(workers), no_ids(pairs), no_ids(pairs))


def close(worker: Worker, rules: AutogradRules) -> Worker:
    """Drop everything but the id and the counts, and leave the pass that runs (A24)."""
    empty = stranger(len(worker.newest), len(worker.sends))
    task = empty.task if rules.release_ends_passes else worker.task
    kept = empty._replace(context=Context.CLOSED, sent=worker.sent, got=worker.got, failed=worker.failed, task=task)
    return kept._replace(mourned=worker.mourned)


def forget(worker: Worker, rules: AutogradRules) -> Worker:
    """Drop the id too (A25)."""
    empty = stranger(len(worker.newest), len(worker.sends))._replace(context=Context.GONE, mourned=worker.mourned)
    task = empty.task if rules.release_ends_passes else worker.task
    return empty._replace(resurrected=worker.resurrected, task=task)


def on_closed(record: Release, who: WorkerId, calls: Calls, graph: Graph) -> Step:
    """Take note of a closed worker's calls, and have those close that it sent calls to (A25)."""
    record = record._replace(closed=record.closed.add(who))
    for pair in sorted(calls.sent):
        record = record._replace(sent=record.sent.add(pair))
    for pair in sorted(calls.settled):
        record = settle(record, pair)
    return ask(record, {graph.pairs[pair].target for pair in calls.sent})


def ask(record: Release, workers: Iterable[WorkerId]) -> Step:
    """Have workers close that were not told to yet."""
    new = [worker for worker in sorted(set(workers)) if worker not in record.asked and worker != CREATOR]
    for worker in new:
        record = record._replace(asked=record.asked.add(worker))
    return record, tuple((CleanupContext(worker), True) for worker in new)


def settle(record: Release, pair: PairId) -> Release:
    """Take note that a call is under way no more."""
    return record._replace(settled=record.settled.add(pair))


def is_drained(record: Release, mourned: IdSet, graph: Graph) -> bool:
    """Say whether nobody can send a call any more, and none is under way. The dead send nothing, and get nothing (A21)."""
    living = [pair for pair in graph.pair_ids if not ({*graph.ends(pair)} & {*mourned.members()})]
    is_closed = all(worker in record.closed or worker in mourned for worker in record.asked.members())
    return is_closed and all(pair not in record.sent or pair in record.settled for pair in living)


def farewell(record: Release, mourned: IdSet) -> tuple[Parcel, ...]:
    """Tell everyone to forget the id, and who is dead: nothing of them is to be taken any more (A21)."""
    dead = frozenset(mourned.members())
    return tuple((Forget(worker), dead) for worker in map(WorkerId, range(len(record.asked))) if worker in record.asked)


def flood(worker: Worker, graph: Graph) -> tuple[Parcel, ...]:
    """Tell those that calls were sent to: what PyTorch does, and nobody listens for an answer."""
    targets = sorted({graph.pairs[pair].target for pair in graph.pair_ids if pair in worker.sent})
    return tuple((CleanupContext(target), True) for target in targets)


def accounts(worker: Worker) -> Calls:
    """Give a worker's calls."""
    settled = {*worker.got.members(), *worker.failed.members()}
    return Calls(frozenset(map(PairId, worker.sent.members())), frozenset(map(PairId, settled)))


def say_closed(worker: Worker, who: WorkerId) -> tuple[Parcel, ...]:
    """Tell the creator that this worker is closed, and its calls."""
    return ((Closed(who), accounts(worker)),)
