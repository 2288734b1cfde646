"""How a worker stands with each of its peers, and what it keeps for those who are lost: for debugging, and for `farref top`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain
from typing import TYPE_CHECKING

from farref.impl.core.ids import ForkId, WorkerId
from farref.impl.core.observe import ExcludedView, FunctionView, PeerView

if TYPE_CHECKING:
    from farref.impl.worker.futures import Future
    from farref.impl.worker.worker import Worker

UP, FULL, DEAD = "up", "full", "dead"


def peers_of(worker: Worker) -> tuple[PeerView, ...]:
    """Look at every peer of a worker. Under the lock."""
    now = time.monotonic()
    held = Counter(record.owner for record in worker.core.user.records.values())
    calls: dict[WorkerId, list[Future]] = {}
    fetches: dict[WorkerId, list[Future]] = {}
    for future, target, _ in worker.calls.values():
        calls.setdefault(target, []).append(future)
    for future, reference in worker.fetches.values():
        fetches.setdefault(reference.owner, []).append(future)
    return tuple(
        _peer(worker, peer, held[peer], calls.get(peer, []), fetches.get(peer, []), now)
        for peer in sorted(worker.connections)
    )


def functions_of(worker: Worker) -> tuple[FunctionView, ...]:
    """Look at the functions that run now, the oldest first."""
    now = time.monotonic()
    running = sorted(worker.performer.running.copy().values(), key=lambda one: one[1])
    return tuple(FunctionView(function, now - began) for function, began in running)


def excluded_of(worker: Worker, whom: Collection[WorkerId]) -> tuple[ExcludedView, ...]:
    """Look at some who are excluded, and at what is kept here for them. Under the lock."""
    core = worker.core
    if not whom:
        return ()
    forks = _held_by(whom, [entry.forks.items() for entry in core.owner.entries.values()])
    children = _held_by(whom, [record.children.items() for record in core.user.records.values()])
    return tuple(
        ExcludedView(
            who,
            worker.names.get(who, f"worker {who}"),
            core.members.phase(who).value,
            core.members.since.get(who, 0),
            core.dead[who],
            tuple(sorted(forks.get(who, ()))),
            tuple(sorted(children.get(who, ()))),
        )
        for who in sorted(whom)
    )


def _held_by(
    whom: Collection[WorkerId], tables: Iterable[Iterable[tuple[ForkId, WorkerId]]]
) -> dict[WorkerId, list[ForkId]]:
    found: dict[WorkerId, list[ForkId]] = {}
    for fork, holder in chain.from_iterable(tables):
        if holder in whom:
            found.setdefault(holder, []).append(fork)
    return found


def unsettled_of(worker: Worker) -> tuple[WorkerId, ...]:
    """List the members that keep the newest view from being buried, if that is decided here (R40). Under the lock."""
    hosted = worker.core.members.hosted
    return () if hosted is None else hosted.unsettled()


def _peer(
    worker: Worker, peer: WorkerId, held: int, calls: list[Future], fetches: list[Future], now: float
) -> PeerView:
    connection, core = worker.connections[peer], worker.core
    load = core.here.loads[peer]
    half = core.channel.outgoing.get(peer)
    unanswered = [] if half is None else list(half.unanswered.values())
    oldest = min([*calls, *fetches], key=lambda one: one.begun, default=None)
    is_full = connection.is_full()
    return PeerView(
        worker=peer,
        name=worker.names[peer],
        link=DEAD if peer in core.dead else FULL if is_full else UP,
        reason=core.dead.get(peer, ""),
        queued_bytes=connection.queued_bytes() if peer not in core.dead else 0,
        received_bytes=load.bytes,
        serving=load.asked,
        calls=len(calls),
        fetches=len(fetches),
        oldest="" if oldest is None else oldest.what,
        oldest_s=0.0 if oldest is None else now - oldest.begun,
        references_held=held,
        references_given=core.owner.counts.forks[peer],
        unanswered=len(unanswered) + (0 if half is None else len(half.queued)),
        retries=sum(one.attempt for one in unanswered),
    )
