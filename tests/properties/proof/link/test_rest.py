"""What the proof says of tables at rest, looked up in the implementation's tables, right and wrong."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from farref.impl.core.ids import ForkId, Incarnation, RRefId, WorkerId
from farref.impl.core.observe import EntryView, ParkedFetch, RecordView, WorkerTables
from farref.properties.proof.link.rest import broken_at_rest
from farref.properties.proof.rref.rest import RESTING

OWNER, USER, LIFE = WorkerId(0), WorkerId(1), Incarnation(7)
RREF, FORK, CHILD = RRefId(OWNER, LIFE, 1), ForkId(USER, LIFE, 1), ForkId(USER, LIFE, 2)
ENTRY = EntryView(RREF, "ready", False, ((FORK, USER),), (), False, 0, 0)
RECORD = RecordView(RREF, FORK, OWNER, None, True, 1, False, False, (), 0, 0)


def tables(entry: EntryView | None, record: RecordView | None) -> list[WorkerTables]:
    """Give the tables of an owner and of a user."""
    owner = WorkerTables(OWNER, () if entry is None else (entry,), (), (), (), ())
    return [owner, WorkerTables(USER, (), () if record is None else (record,), (), (), ())]


RIGHT = {
    "nothing": tables(None, None),
    "a fork is held": tables(ENTRY, RECORD),
    "the owner holds it": tables(msgspec.structs.replace(ENTRY, forks=(), held=1), None),
    "a fetch waits for a function": tables(
        msgspec.structs.replace(ENTRY, phase="created", running=True, fetches=(ParkedFetch(USER, FORK, 1),)),  # type: ignore[arg-type]
        msgspec.structs.replace(RECORD, handles=0, fetches_waiting=1),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_tables_are_right(name: str) -> None:
    assert broken_at_rest(RIGHT[name]) == []


WRONG: dict[str, tuple[Callable[[], list[WorkerTables]], set[str]]] = {
    "a count is left": (lambda: tables(ENTRY, None), {"rest counts"}),
    "a user is not counted": (
        lambda: tables(msgspec.structs.replace(ENTRY, forks=(), held=1), RECORD),
        {"rest counts"},
    ),
    "a user without an entry": (lambda: tables(None, RECORD), {"rest counts", "rest values"}),
    "a user is pending": (lambda: tables(ENTRY, msgspec.structs.replace(RECORD, confirmed=False)), {"rest users"}),
    "a user is kept for nothing": (lambda: tables(ENTRY, msgspec.structs.replace(RECORD, handles=0)), {"rest users"}),
    "a child is listed": (
        lambda: tables(ENTRY, msgspec.structs.replace(RECORD, children=((CHILD, USER),))),
        {"rest children"},
    ),
    "a fetch is nowhere": (lambda: tables(ENTRY, msgspec.structs.replace(RECORD, fetches_waiting=1)), {"rest fetches"}),
    "an entry is kept for nothing": (
        lambda: tables(msgspec.structs.replace(ENTRY, forks=()), None),
        {"rest entries"},
    ),
    "an entry is expected": (
        lambda: tables(msgspec.structs.replace(ENTRY, phase="expected"), RECORD),
        {"rest entries"},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_tables_are_noticed(name: str) -> None:
    made, lost = WRONG[name]
    assert broken_at_rest(made()) == [text for one, (text, _) in RESTING.items() if one in lost]


def test_every_sentence_is_broken_by_some_tables() -> None:
    assert set(RESTING) == set().union(*(lost for _, lost in WRONG.values()))
