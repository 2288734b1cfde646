"""What the spec says of a worker's tables when it installs a view, and when it hears that the view is buried.

It is said of the tables as they can be seen (`observe`), and so a second time: a step of the core is held against this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict, replace

from farref.impl.core.ids import ForkId, RRefId, WorkerId
from farref.impl.core.observe import EntryView, ParkedCallView, RecordView, UnansweredView, WorkerTables

Said = tuple[WorkerId, str, RRefId | None, ForkId | None]
"""A control message that is unanswered: to whom, what, and about what."""


def differences(found: WorkerTables, expected: WorkerTables) -> list[str]:
    """Say how two pictures of a worker differ. Numbers and ages of messages do not matter."""
    said = [Counter(map(_said, tables.unanswered)) for tables in (found, expected)]
    rest = [asdict(replace(tables, unanswered=())) for tables in (found, expected)]
    told = [f"{name} is {rest[0][name]}, not {rest[1][name]}" for name in rest[0] if rest[0][name] != rest[1][name]]
    told += [f"too much is unanswered: {one}" for one in (said[0] - said[1])]
    return told + [f"is not sent: {one}" for one in (said[1] - said[0])]


def after_view(tables: WorkerTables, lost: WorkerId, number: int, host: WorkerId) -> WorkerTables:
    """Say what a worker's tables hold when it has installed a view that excludes one worker more (R37, R39, R43)."""
    dead = {*tables.dead, lost}
    orphaned = {record.fork for record in tables.users if record.owner == lost}
    parked = [call for call in tables.parked_calls if orphaned & {*call.waiting_for}]
    users = [_after_owner(record, parked) if record.fork in orphaned else record for record in tables.users]
    heirs = [record.fork for record in users if record and _is_heir(record, dead)]
    unanswered = [one for one in tables.unanswered if one.peer != lost]
    if not heirs:
        unanswered.append(_message(host, "ViewSettled"))
    return replace(
        tables,
        entries=tuple(entry for one in tables.entries if (entry := _after_holder(one, lost))),
        users=tuple(record for record in users if record),
        parked_calls=tuple(call for call in tables.parked_calls if call not in parked),
        unanswered=tuple(unanswered),
        dead=tuple(sorted(dead)),
        view=number,
        settled=tables.settled if heirs else number,
        heirs=tuple(sorted(heirs)),
    )


def _is_heir(record: RecordView, dead: set[WorkerId]) -> bool:
    """A pending fork that a lost worker minted, and whose owner is a member (R39)."""
    return record.fork.created_on in dead and not record.confirmed and not record.orphaned


def _after_owner(record: RecordView, parked: list[ParkedCallView]) -> RecordView | None:
    """An orphan: its fetches have ended, a call that waited with it lets it go, and it goes with its last handle (R43)."""
    handles = record.handles - sum(record.fork in call.waiting_for for call in parked)
    orphan = replace(record, orphaned=True, handles=handles, fetches_waiting=0, fetches_abandoned=0)
    return orphan if handles else None


def _after_holder(entry: EntryView, lost: WorkerId) -> EntryView | None:
    """What it held stays, its fetches do not; what it was to create is an error, and kept in its name (R37)."""
    kept = {*entry.kept_for, *(holder for _, holder in entry.forks if holder == lost)}
    entry = replace(entry, fetches=tuple(one for one in entry.fetches if one.source != lost))
    if entry.rref.created_on == lost and entry.phase in ("absent", "expected"):
        if not (entry.phase == "expected" or entry.forks or entry.fetches):
            return None  # only the lost one had asked for it
        entry = replace(entry, phase="ready", failed=True, fetches=(), waiting=0, marked=True)
        kept.add(lost)
    if entry.phase == "absent" and not (entry.forks or entry.fetches):
        return None
    return replace(entry, kept_for=tuple(sorted(kept)))


def after_burial(tables: WorkerTables, gone: set[WorkerId], number: int) -> WorkerTables:
    """Say what a worker's tables hold when it has heard that a view is buried (R41, R42)."""
    users = [replace(one, children=tuple(c for c in one.children if c[1] not in gone)) for one in tables.users]
    leaving = [one for one in users if _may_go(one)]
    return replace(
        tables,
        entries=tuple(entry for one in tables.entries if (entry := _after_release(one, gone))),
        users=tuple(one for one in users if one not in leaving and (one.handles or not one.orphaned)),
        unanswered=(*tables.unanswered, *_deletes(leaving)),
        buried=number,
    )


def _after_release(entry: EntryView, gone: set[WorkerId]) -> EntryView | None:
    forks = tuple(one for one in entry.forks if one[1] not in gone)
    kept = tuple(who for who in entry.kept_for if who not in gone)
    entry = replace(entry, forks=forks, kept_for=kept, marked=entry.marked and entry.rref.created_on not in gone)
    if entry.phase == "absent":
        return entry if forks or entry.fetches else None
    named = forks or kept or entry.held or entry.running or entry.waiting
    return entry if named or entry.phase == "expected" else None


def _may_go(record: RecordView) -> bool:
    """Whether nothing keeps a user any more (R26)."""
    fetches = record.fetches_waiting or record.fetches_abandoned
    return record.confirmed and not (record.orphaned or record.handles or record.children or fetches)


def _deletes(records: list[RecordView]) -> Iterator[UnansweredView]:
    for record in records:
        yield _message(record.owner, "UserDelete", record.rref, record.fork)


def _message(peer: WorkerId, name: str, rref: Any = None, fork: Any = None) -> UnansweredView:
    return UnansweredView(peer, 0, name, rref, fork, 0.0)  # type: ignore[arg-type]


def _said(one: UnansweredView) -> Said:
    return one.peer, one.message, one.rref, one.fork
