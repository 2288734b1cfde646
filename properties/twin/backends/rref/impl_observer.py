"""The tables of the implementation as a neutral observation, compared on the way with what its application knows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple, Protocol

from farref.impl.core.ids import ForkId, OwnedReference, RRefId, UserReference, WorkerId
from farref.impl.core.observe import EntryView as Entry
from farref.impl.core.observe import RecordView as Record
from farref.impl.core.observe import WorkerTables
from farref.model.ids import WorkerId as ModelWorkerId
from farref.model.ids import worker_name
from farref.properties.rref.observation import EntryView, MessageView, UserView, WorkerView, in_order
from farref.properties.twin.backends.rref.application import Application
from farref.properties.twin.backends.rref.names import Names

LostTo = Callable[[WorkerId], set[WorkerId]]
"""Says whom a worker has excluded, by what it was told."""


class Observed(NamedTuple):
    """What was seen of one worker."""

    view: WorkerView
    parked: frozenset[str]  # the forks that its parked calls wait for
    amiss: tuple[str, ...]


class ImplObserver:
    """Sees one worker after the other, with the names of the model."""

    def __init__(self, names: Names, application: Application, lost_to: LostTo) -> None:
        self.names, self.application, self.lost_to = names, application, lost_to
        self._entries: dict[Entry, EntryView] = {}
        self._users: dict[tuple[Record, bool], UserView] = {}

    def __getstate__(self) -> dict[str, object]:
        """Leave out of a copy what can be seen again."""
        return {**vars(self), "_entries": {}, "_users": {}}

    def observe(self, tables: WorkerTables, parents: Collection[ForkId]) -> Observed:
        """Look at all tables of a worker, and at the forks that it knows as children."""
        parked = frozenset([fork for call in tables.parked_calls for fork in call.waiting_for])
        amiss = [f"{name(tables.worker)}: {complaint}" for complaint in self._amiss(tables, parents)]
        return Observed(self._worker(tables, parked), frozenset(map(self.names.fork, parked)), tuple(amiss))

    def _worker(self, tables: WorkerTables, parked: Collection[ForkId]) -> WorkerView:
        dropped = [rref for rref in self.application.dropped if self.names.owner(rref) == tables.worker]
        return WorkerView(
            worker=name(tables.worker),
            entries=in_order([self._entry(entry) for entry in tables.entries]),
            dropped=in_order(map(self.names.rref, dropped)),
            users=in_order([self._user(record, record.fork in parked) for record in tables.users]),
            unanswered=in_order(self._unanswered(tables)) if tables.unanswered else (),
        )

    def _entry(self, entry: Entry) -> EntryView:
        """See an entry. Most are as they were a step ago, and so is what is seen of them."""
        view = self._entries.get(entry)
        if view is None:
            view = self._entries[entry] = entry_view(entry, self.names)
        return view

    def _user(self, record: Record, parked: bool) -> UserView:
        view = self._users.get((record, parked))
        if view is None:
            view = self._users[record, parked] = user_view(record, self.names, parked=parked)
        return view

    def _unanswered(self, tables: WorkerTables) -> Iterator[MessageView]:
        for one in tables.unanswered:
            yield MessageView(one.message, self.names.fork(one.fork), name(tables.worker), name(one.peer))

    def _amiss(self, tables: WorkerTables, parents: Collection[ForkId]) -> Iterator[str]:
        """List where the tables contradict each other, or what the application knows."""
        worker, application = tables.worker, self.application
        for entry in tables.entries:
            label, handles = self.names.rref(entry.rref), application.handles[worker, OwnedReference(entry.rref)]
            if entry.held != handles:
                yield f"{label}: the table has {entry.held} handles, the application {handles}"
            if entry.running != (entry.rref in application.running):
                yield f"{label}: table and application disagree on whether its function runs"
            if entry.waiting != (waiting := application.wants(entry.rref)):
                yield f"{label}: the table has {entry.waiting} waiting, the application {waiting}"
        for record in tables.users:
            yield from self._amiss_with(worker, record)
        if set(parents) != {fork for record in tables.users for fork, _ in record.children}:
            yield "the lists of children and of parents disagree"
        yield from self._amiss_with_views(tables)

    def _amiss_with(self, worker: WorkerId, record: Record) -> Iterator[str]:
        label, application = self.names.fork(record.fork), self.application
        parked = list(application.calls.values()).count(record.fork)
        handles = application.handles[worker, UserReference(record.owner, record.rref, record.fork)] + parked
        if record.handles != handles:
            yield f"{label}: the table has {record.handles} handles, the application {handles}"
        asked = [abandoned for _, abandoned in application.asked(worker, record.fork)]
        if (record.fetches_waiting, record.fetches_abandoned) != (asked.count(False), asked.count(True)):
            yield f"{label}: table and application disagree on its fetches"
        if record.orphaned != (record.owner in self.lost_to(worker)):
            yield f"{label}: whether its owner is taken for dead is wrong"

    def _amiss_with_views(self, tables: WorkerTables) -> Iterator[str]:
        """Nobody else is taken for dead than a view says; whoever has settled it holds no heir (R37, R39)."""
        lost = self.lost_to(tables.worker)
        if lost != set(tables.dead):
            yield f"workers {tables.dead} are taken for dead, and {sorted(lost)} are excluded"
        pending = {one.fork for one in tables.users if not one.confirmed and not one.orphaned}
        heirs = {fork for fork in pending if fork.created_on in lost}
        if heirs != set(tables.heirs):
            yield f"its heirs are {sorted(heirs)}, and it says {tables.heirs}"
        if heirs and tables.settled == tables.view:
            yield f"it has settled view {tables.view}, and {sorted(heirs)} are not counted"


# -- tables as they are told, lockstep's and the storm's ---------------------------------------------------------------


class Naming(Protocol):
    """Gives the neutral names of a run."""

    def rref(self, found: RRefId, /) -> str:
        """Name an RRef, or say that nobody created it."""

    def fork(self, found: ForkId, /) -> str:
        """Name a fork, or say that nobody minted it."""


def entry_view(entry: Entry, names: Naming) -> EntryView:
    """Tell an entry."""
    return EntryView(
        rref=names.rref(entry.rref),
        value=entry.phase,
        forks=_with_holders((*entry.forks, *_marked(entry)), names),
        running=entry.running,
        held=entry.held > 0,
        waiting=entry.waiting > 0,
        fetches=in_order({names.fork(parked.fork) for parked in entry.fetches}),
    )


def user_view(record: Record, names: Naming, *, parked: bool) -> UserView:
    """Tell a user's record. Its handle may be that of a call which waits, and which the application has not got yet."""
    held = "timed out" if record.timed_out else "held"
    abandoned = "abandoned" if record.fetches_abandoned else "none"
    return UserView(
        fork=names.fork(record.fork),
        rref=names.rref(record.rref),
        state="confirmed" if record.confirmed else "pending",
        handle=("parked" if parked else held) if record.handles else "none",
        fetch="waiting" if record.fetches_waiting else abandoned,
        children=_with_holders(record.children, names),
    )


def _marked(entry: Entry) -> list[tuple[ForkId, WorkerId]]:
    """Tell that an entry is kept for an excluded creator as the model does: its creator's fork is counted (R37)."""
    rref = entry.rref
    own = ForkId(rref.created_on, rref.incarnation, rref.number)
    return [(own, rref.created_on)] if entry.marked else []


def _with_holders(forks: Iterable[tuple[ForkId, WorkerId]], names: Naming) -> tuple[tuple[str, str], ...]:
    return in_order((names.fork(fork), name(holder)) for fork, holder in forks)


def name(worker: int) -> str:
    """Name a worker as the stories do."""
    return worker_name(ModelWorkerId(worker))
