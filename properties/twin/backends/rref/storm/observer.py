"""What can be seen of a storm, in the words of `properties/rref/observation.py`, compared with what applications know.

A message with several forks is seen as several messages, one for each fork (R33): what a `RemoteCall` carries besides its
creation as calls, what a value carries as results. A call that waits has a handle of each of its references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from farref.impl.core.ids import OwnedReference, UserReference, WorkerId
from farref.impl.core.messages import Call, CallFailed, Control, FetchCall, FetchReturn, RemoteCall, Return, UserAccept
from farref.impl.core.observe import EntryView as Entry
from farref.impl.core.observe import RecordView as Record
from farref.impl.core.observe import WorkerTables
from farref.impl.simulated.network import InFlight
from farref.properties.rref.observation import MessageView, Observation, WorkerView
from farref.properties.twin.backends.rref.impl_observer import entry_view, name, user_view
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.network import StormNetwork
from farref.properties.twin.backends.rref.storm.truth import StormTruth


@dataclass(frozen=True, slots=True)
class Seen:
    """One worker: its tables as they are, and as they are told."""

    tables: WorkerTables
    view: WorkerView
    facts: frozenset[tuple[str, object]]  # all that was seen, each with the RRef it is about


class StormObserver:
    """Sees all workers after each move, and knows of which RRefs something is otherwise than before."""

    def __init__(self, network: StormNetwork, names: StormNames, truth: StormTruth) -> None:
        self.network, self.names, self.truth = network, names, truth
        self.workers: dict[WorkerId, Seen] = {}
        self._flying: frozenset[MessageView] = frozenset()
        self._views: dict[int, tuple[MessageView, ...]] = {}  # by flight

    def look(self) -> tuple[Observation, set[str]]:
        """See everything, and name the RRefs of which something has changed."""
        changed = set[str]()
        for seen in self.network.look():
            worker = seen.tables.worker
            before = self.workers[worker].facts if worker in self.workers else frozenset()
            self.workers[worker] = self._seen(seen.tables)
            changed |= {rref for rref, _ in before ^ self.workers[worker].facts}
        for worker in [one for one in self.workers if one not in self.network.cores]:
            changed |= {rref for rref, _ in self.workers.pop(worker).facts}
        flying = frozenset(view for flight in self.network.in_flight() for view in self._messages(flight))
        changed |= {self.truth.rref_of(view.fork) or "" for view in flying ^ self._flying}
        self._flying = flying
        views = tuple(self._with_dropped(worker, seen.view) for worker, seen in self.workers.items())
        return Observation(views, tuple(flying), False), changed & set(self.names.created)

    def _with_dropped(self, worker: WorkerId, view: WorkerView) -> WorkerView:
        dropped = tuple(one for one in self.truth.dropped if self.names.created[one].owner == worker)
        return WorkerView(view.worker, view.entries, dropped, view.users, view.unanswered)

    # Tables

    def _seen(self, tables: WorkerTables) -> Seen:
        entries = tuple(entry_view(entry, self.names) for entry in tables.entries)
        users = tuple(user_view(record, self.names, parked=False) for record in tables.users)
        unanswered = tuple(
            MessageView(one.message, self.names.fork(one.fork), name(tables.worker), name(one.peer))
            for one in tables.unanswered
            if one.fork is not None
        )
        facts: list[tuple[str, object]] = [(self.names.rref(one.rref), one) for one in tables.entries]
        facts += [(self.names.rref(one.rref), one) for one in tables.users]
        facts += [(self.truth.rref_of(one.fork) or "", one) for one in unanswered]
        return Seen(tables, WorkerView(name(tables.worker), entries, (), users, unanswered), frozenset(facts))

    # Messages

    def _messages(self, flight: InFlight) -> tuple[MessageView, ...]:
        views = self._views.get(flight.id)
        if views is None:
            ends, cut = (name(flight.source), name(flight.target)), self._cut(flight)
            views = self._views[flight.id] = tuple(MessageView(kind, fork, *ends) for kind, fork in cut)
        return views

    def _cut(self, flight: InFlight) -> Iterator[tuple[str, str]]:
        """Cut a message into one for each fork (R33)."""
        message, fork = flight.message, self.names.fork
        match message:
            case Control(body=body):
                yield type(body).__name__, fork(body.fork)  # type: ignore[union-attr]
            case RemoteCall() | UserAccept() | FetchCall() | FetchReturn():
                yield type(message).__name__, fork(message.fork)
            case _:
                pass
        carried = "Return" if isinstance(message, Return | FetchReturn) else "Call"
        kind = "CallFailed" if isinstance(message, CallFailed) else carried
        if isinstance(message, RemoteCall | Call | Return | FetchReturn | CallFailed):
            yield from ((kind, fork(data.fork)) for data in message.forks)

    # Counts

    def miscounted(self, touched: set[str]) -> Iterator[str]:
        """List where a table has another number than the application."""
        for worker, seen in self.workers.items():
            for entry in seen.tables.entries:
                if self.names.rref(entry.rref) in touched:
                    yield from self._miscounted_entry(worker, entry)
            for record in seen.tables.users:
                if self.names.rref(record.rref) in touched:
                    yield from self._miscounted_user(worker, record)

    def _miscounted_entry(self, worker: WorkerId, entry: Entry) -> Iterator[str]:
        rref, truth = self.names.rref(entry.rref), self.truth
        handles = truth.holds_of(worker, OwnedReference(entry.rref))
        if entry.held != handles:
            yield f"{rref}: {name(worker)}'s table has {entry.held} handles, and there are {handles}"
        if entry.waiting != truth.wants(rref):
            yield f"{rref}: {name(worker)}'s table has {entry.waiting} who wait, and there are {truth.wants(rref)}"
        if entry.running != truth.computes(rref):
            yield f"{rref}: {name(worker)}'s table and its application disagree on whether its function runs"

    def _miscounted_user(self, worker: WorkerId, record: Record) -> Iterator[str]:
        fork, truth = self.names.fork(record.fork), self.truth
        handles = truth.holds_of(worker, UserReference(record.owner, record.rref, record.fork))
        if record.handles != handles:
            yield f"{fork}: {name(worker)}'s table has {record.handles} handles, and there are {handles}"
        asked = truth.asked(fork)
        if (record.fetches_waiting, record.fetches_abandoned) != (asked.count(False), asked.count(True)):
            yield f"{fork}: {name(worker)}'s table and its application disagree on its fetches"
