"""A picture of every table of one worker, for debugging, for tests, and for comparing with another implementation.

Everything that keeps something alive is in it, with the name of whoever it belongs to: not only counted forks, but pinned
parents, parked calls, parked fetches and unanswered control messages (R30, R32). Nothing here is sorted out as uninteresting:
a leak is found by looking at what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from farref.impl.core.autograd.ids import ContextId, PassId
from farref.impl.core.autograd.tables import Context
from farref.impl.core.core import Core
from farref.impl.core.effects import Failure, RunCall
from farref.impl.core.entries import Entry
from farref.impl.core.ids import FetchId, ForkId, RRefId, SequenceNumber, WorkerId
from farref.impl.core.messages import ControlBody, RRefBody
from farref.impl.core.user import Record
from farref.impl.core.views import Suspect

AnyView = TypeVar("AnyView")


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
    kept_for: tuple[WorkerId, ...] = ()
    """The excluded workers that it is kept for until they are buried: they hold forks, or created it (R41, R45)."""
    marked: bool = False
    """Whether its creation never came, as its creator is excluded (R37)."""


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
    rref: RRefId | None
    fork: ForkId | None
    age_s: float


class ContextView(Struct, frozen=True):
    """One autograd context (A8)."""

    context: ContextId
    is_open: bool
    sends: int
    recvs: int
    gradients: int
    task: PassId | None


class PeerView(Struct, frozen=True):
    """How a worker stands with one peer. Only a shell knows: a core has no streams and no futures."""

    worker: WorkerId
    name: str
    link: str
    """`up`; `full` if the peer takes too little in; or `dead`, with the reason."""
    reason: str
    queued_bytes: int
    received_bytes: int
    """What waits to be sent, and what calls of the peer take that have not ended."""
    serving: int
    """Calls, creations and fetches of the peer that have not ended here."""
    calls: int
    fetches: int
    oldest: str
    oldest_s: float
    """Ours that the peer has not answered, and the oldest of them."""
    references_held: int
    references_given: int
    """References that this worker holds to values of the peer, and the other way round."""
    unanswered: int
    retries: int
    """Control messages that the peer has not answered, and how often these were sent again."""


class FunctionView(Struct, frozen=True):
    """A function that runs now."""

    function: str
    seconds: float


class ExcludedView(Struct, frozen=True):
    """A worker that a view excludes, or that is dead to this one, and what is kept for it here (R41, R42)."""

    worker: WorkerId
    name: str
    phase: str
    """`excluded`, or `buried` when nothing is kept for it any more because of a view."""
    view: int
    """The view in which it was lost to this worker; 0 if none says so (R34)."""
    reason: str
    forks: tuple[ForkId, ...]
    """Those it held, and which are still counted."""
    children: tuple[ForkId, ...]
    """Those that were shared with it, and which records still list."""


class WorkerTables(Struct, frozen=True, repr_omit_defaults=True):
    """All tables of one worker."""

    worker: WorkerId
    entries: tuple[EntryView, ...]
    users: tuple[RecordView, ...]
    parked_calls: tuple[ParkedCallView, ...]
    unanswered: tuple[UnansweredView, ...]
    dead: tuple[WorkerId, ...]
    contexts: tuple[ContextView, ...] = ()
    passes: tuple[PassId, ...] = ()
    peers: tuple[PeerView, ...] = ()
    functions: tuple[FunctionView, ...] = ()
    view: int = 0
    settled: int = 0
    buried: int = 0
    """The newest view installed, the newest that is settled here, and the newest that is buried."""
    heirs: tuple[ForkId, ...] = ()
    """Forks that an excluded worker minted and whose owner does not count them yet: the view is not settled here (R39)."""
    excluded: tuple[ExcludedView, ...] = ()
    """Whoever is in `dead`, and for whom what is kept."""
    unsettled: tuple[WorkerId, ...] = ()
    """Where the authority is hosted: the members that have not settled its newest view, so that it is not buried (R40)."""

    def is_empty(self) -> bool:
        """Say whether nothing is left that keeps something (R32). Advice keeps nothing: its reader may have left (R36)."""
        owed = [one for one in self.unanswered if one.message != Suspect.__name__]
        rref = self.entries or self.users or self.parked_calls or owed
        return not (rref or self.contexts or self.passes)


def observe(core: Core) -> WorkerTables:
    """Look at every table of a worker, in the order of ids."""
    return WorkerTables(
        worker=core.me,
        entries=tuple([_entry(core, rref, core.owner.entries[rref]) for rref in sorted(core.owner.entries)]),
        users=_listed(_record, core.user.records),
        parked_calls=_parked(core),
        unanswered=tuple([_unanswered(core.here.now, *one) for one in core.channel.unanswered()]),
        dead=tuple(sorted(core.dead)),
        contexts=_listed(_context, core.engine.contexts),
        passes=tuple(sorted(core.engine.passes)),
        view=core.members.view,
        settled=core.members.settled,
        buried=core.members.buried,
        heirs=tuple(sorted(core.members.heirs)),
    )


def _listed(view: Callable[[Any, Any], AnyView], table: Mapping[Any, Any]) -> tuple[AnyView, ...]:
    """See the rows of a table in the order of their ids."""
    return tuple([view(key, table[key]) for key in sorted(table)])


def _unanswered(now: float, peer: WorkerId, number: SequenceNumber, body: ControlBody, since: float) -> UnansweredView:
    rref, fork = (body.rref, body.fork) if isinstance(body, RRefBody) else (None, None)
    return UnansweredView(peer, number, type(body).__name__, rref, fork, now - since)


def _context(context_id: ContextId, context: Context) -> ContextView:
    task = context.task.pass_id if context.task is not None else None
    sends, recvs, gradients = len(context.sends), len(context.recvs), len(context.gradients)
    return ContextView(context_id, context.is_open, sends, recvs, gradients, task)


def _entry(core: Core, rref: RRefId, entry: Entry) -> EntryView:
    excluded = {holder for _, holder in entry.forks.items() if holder in core.dead} if core.dead else set()
    return EntryView(
        rref=rref,
        phase=entry.phase.value,
        failed=isinstance(entry.outcome, Failure),
        forks=tuple(sorted(entry.forks.items())),
        fetches=tuple(sorted([ParkedFetch(*parked) for parked in entry.fetches])),
        running=entry.running,
        held=entry.held,
        waiting=len(entry.waiting),
        kept_for=tuple(sorted(excluded | ({rref.created_on} if rref in core.owner.marked else set()))),
        marked=rref in core.owner.marked,
    )


def _record(fork: ForkId, record: Record) -> RecordView:
    abandoned = sum(record.fetches.values())
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
        fetches_waiting=len(record.fetches) - abandoned,
        fetches_abandoned=abandoned,
    )


def _parked(core: Core) -> tuple[ParkedCallView, ...]:
    views = []
    for parked in core.parking.all():
        run = parked.run
        function = run.call.function if isinstance(run, RunCall) else run.creation.function
        views.append(ParkedCallView(run.source, function, tuple(sorted(parked.waiting_for))))
    return tuple(views)
