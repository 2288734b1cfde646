"""A picture of every table of one worker, for debugging, for tests, and for comparing with another implementation.

Everything that keeps something alive is in it, with the name of whoever it belongs to: not only counted forks, but pinned
parents, parked calls, parked fetches and unanswered control messages (R30, R32). Nothing here is sorted out as uninteresting:
a leak is found by looking at what is left.
"""

from __future__ import annotations

from msgspec import Struct

from farref.impl.core import Core
from farref.impl.effects import Failure, RunCall
from farref.impl.ids import FetchId, ForkId, RRefId, SequenceNumber, WorkerId
from farref.impl.owner import Entry
from farref.impl.user import Record


class ParkedFetch(Struct, frozen=True, order=True):
    """A fetch that waits for a value (R20)."""

    source: WorkerId
    fork: ForkId
    fetch: FetchId


class EntryView(Struct, frozen=True):
    """One entry of an owner (R8)."""

    rref: RRefId
    phase: str
    failed: bool
    forks: tuple[tuple[ForkId, WorkerId], ...]
    fetches: tuple[ParkedFetch, ...]
    running: bool
    held: int
    waiting: int


class RecordView(Struct, frozen=True):
    """One record of a user (R9)."""

    rref: RRefId
    fork: ForkId
    owner: WorkerId
    parent: ForkId | None
    confirmed: bool
    handles: int
    timed_out: bool
    orphaned: bool
    children: tuple[tuple[ForkId, WorkerId], ...]
    fetches_waiting: int
    fetches_abandoned: int


class ParkedCallView(Struct, frozen=True):
    """One call that waits for the confirmation of its arguments (R16)."""

    source: WorkerId
    function: str
    waiting_for: tuple[ForkId, ...]


class UnansweredView(Struct, frozen=True):
    """One control message that has no answer yet (R30)."""

    peer: WorkerId
    number: SequenceNumber
    message: str
    rref: RRefId
    fork: ForkId
    age_s: float


class WorkerTables(Struct, frozen=True):
    """All tables of one worker."""

    worker: WorkerId
    entries: tuple[EntryView, ...]
    users: tuple[RecordView, ...]
    parked_calls: tuple[ParkedCallView, ...]
    unanswered: tuple[UnansweredView, ...]
    dead: tuple[WorkerId, ...]

    def is_empty(self) -> bool:
        """Say whether nothing is left that keeps something (R32)."""
        return not (self.entries or self.users or self.parked_calls or self.unanswered)


def observe(core: Core) -> WorkerTables:
    """Look at every table of a worker, in the order of ids."""
    return WorkerTables(
        worker=core.me,
        entries=tuple(_entry(rref, entry) for rref, entry in sorted(core.owner.entries.items())),
        users=tuple(_record(fork, record) for fork, record in sorted(core.user.records.items())),
        parked_calls=_parked(core),
        unanswered=tuple(
            UnansweredView(peer, number, type(body).__name__, body.rref, body.fork, core.now - since)
            for peer, number, body, since in core.channel.unanswered()
        ),
        dead=tuple(sorted(core.dead)),
    )


def _entry(rref: RRefId, entry: Entry) -> EntryView:
    return EntryView(
        rref=rref,
        phase=entry.phase.value,
        failed=isinstance(entry.outcome, Failure),
        forks=tuple(sorted(entry.forks.items())),
        fetches=tuple(sorted(ParkedFetch(*parked) for parked in entry.fetches)),
        running=entry.running,
        held=entry.held,
        waiting=len(entry.waiting),
    )


def _record(fork: ForkId, record: Record) -> RecordView:
    return RecordView(
        rref=record.rref,
        fork=fork,
        owner=record.owner,
        parent=record.parent,
        confirmed=record.confirmed,
        handles=record.handles,
        timed_out=record.timed_out,
        orphaned=record.orphaned,
        children=tuple(sorted(record.children.items())),
        fetches_waiting=sum(not abandoned for abandoned in record.fetches.values()),
        fetches_abandoned=sum(record.fetches.values()),
    )


def _parked(core: Core) -> tuple[ParkedCallView, ...]:
    views = []
    for parked in core.parking.all():
        run = parked.run
        function = run.call.function if isinstance(run, RunCall) else run.creation.function
        views.append(ParkedCallView(run.source, function, tuple(sorted(parked.waiting_for))))
    return tuple(views)
