"""The creator's side of a release: it finds out when no call of the context is under way. All that decides it is here.

Theory of operation. Remembering every released id for ever is no answer to calls that arrive late (`worker.py`), so ids are
forgotten as soon as that is safe. The creator balances calls as a root balances its ledger: when everyone who was sent a call
is closed, and every call that was sent was received or has failed, none is under way, and none can be sent. Then everyone
forgets (A25).

Each handler gets the creator's record and gives back the record, the messages to send, and what the creator tells itself:
that takes effect at once, without a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from farref.model.autograd import messages as msg
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, PairId
from farref.model.ids import WorkerId
from farref.model.values import IdSet, no_ids


class Release(NamedTuple):
    """What the creator knows of the calls of a released context (A25)."""

    asked: IdSet  # the workers it told to close
    closed: IdSet  # those that have closed
    sent: IdSet  # the calls that were sent
    settled: IdSet  # the calls that were received, or have failed


Forgetting = tuple[msg.Forget, msg.Dead]

Step = tuple[Release, tuple[msg.ContextParcel, ...], Forgetting | None]


def no_release(workers: int, pairs: int) -> Release:
    """Make the record of a context that was not released."""
    return Release(no_ids(workers), no_ids(workers), no_ids(pairs), no_ids(pairs))


def on_closed(record: Release, who: WorkerId, calls: msg.Calls, mourned: IdSet, graph: Graph) -> Step:
    """Take note of a closed worker's calls, and have those close that it sent calls to (A25)."""
    record = record._replace(closed=record.closed.add(who))
    for pair in sorted(calls.sent):
        record = record._replace(sent=record.sent.add(pair))
    for pair in sorted(calls.settled):
        record = record._replace(settled=record.settled.add(pair))
    return _go_on(record, {graph.pairs[pair].target for pair in calls.sent}, mourned, graph)


def on_settled(record: Release, pair: PairId, mourned: IdSet, graph: Graph) -> Step:
    """Take note that a call is under way no more (A25)."""
    return _go_on(record._replace(settled=record.settled.add(pair)), (), mourned, graph)


def on_death(record: Release, mourned: IdSet, graph: Graph) -> Step:
    """Go on without the dead (A21)."""
    return _go_on(record, (), mourned, graph)


def _go_on(record: Release, known: Iterable[WorkerId], mourned: IdSet, graph: Graph) -> Step:
    """Have those close that are known to have the context; once nothing of it is under way, have everyone forget it (A25)."""
    living = [worker for worker in map(WorkerId, range(len(record.asked))) if worker not in mourned]
    # Whoever only knew the context from somebody dead would never be named, so after a death everyone is asked.
    record, asked = _ask(record, known if mourned.is_empty() else {*known, *living})
    if not is_drained(record, mourned, graph):
        return record, asked, None
    dead = frozenset(map(WorkerId, mourned.members()))
    farewell = tuple((msg.Forget(WorkerId(worker)), dead) for worker in record.asked.members())
    return record, (*asked, *farewell), (msg.Forget(CREATOR), frozenset())


def _ask(record: Release, workers: Iterable[WorkerId]) -> tuple[Release, tuple[msg.ContextParcel, ...]]:
    """Have workers close that were not told to yet."""
    new = [worker for worker in sorted(set(workers)) if worker not in record.asked and worker != CREATOR]
    for worker in new:
        record = record._replace(asked=record.asked.add(worker))
    return record, tuple((msg.CleanupContext(worker), True) for worker in new)


def is_drained(record: Release, mourned: IdSet, graph: Graph) -> bool:
    """Say whether nobody can send a call any more, and none is under way. The dead send nothing, and get nothing (A21)."""
    living = [pair for pair in graph.pair_ids if not ({*graph.ends(pair)} & {*mourned.members()})]
    is_closed = all(worker in record.closed or worker in mourned for worker in record.asked.members())
    return is_closed and all(pair not in record.sent or pair in record.settled for pair in living)
