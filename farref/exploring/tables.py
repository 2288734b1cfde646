"""A state as tables: what each worker knows, in the words of an observation (`properties/rref/observation.py`).

An observation is plain records, so a table has a line for each of them and a column for each of their fields. What a protocol
adds to its observations is shown without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from farref.exploring.shape import Message, Row, Table, Worker
from farref.properties.twin.observation import said

TITLES: Final = {
    "entries": "RRefs that it owns",
    "users": "Forks that it holds",
    "unanswered": "Waits for an answer to",
    "dropped": "Values that it has dropped",
    "passes": "Passes",
    "release": "Release of the context",
    "closing": "Shutdown",
    "amiss": "Amiss",
}
"""What a table is called, by its field; others have the name of their field."""

RECORD: Final = "What it knows"
APART: Final = ("worker", "workers", "flying")


def workers_of(observation: Any) -> tuple[Worker, ...]:
    """Show what each worker knows."""
    return tuple(Worker(view.worker, tuple(_tables(view))) for view in observation.workers)


def whole_of(observation: Any) -> tuple[Table, ...]:
    """Show what belongs to no worker."""
    return tuple(_tables(observation))


def flying_of(observation: Any) -> tuple[Message, ...]:
    """List what is under way."""
    return tuple(Message(one.label, one.source, one.target) for one in observation.flying)


def _tables(view: Any) -> Iterator[Table]:
    """Make a table of each field that has records, and one of all that are plain."""
    plain: list[tuple[str, str]] = []
    for name in view.__struct_fields__:
        value = getattr(view, name)
        if name in APART or _is_nothing(value):
            continue
        title = TITLES.get(name, _words(name))
        if isinstance(value, tuple) and isinstance(value[0], msgspec.Struct):
            yield _records(title, value)
        elif isinstance(value, msgspec.Struct):
            yield Table(title, ("",), (Row(title, (str(said(value)) or "begun",)),))
        else:
            plain.append((title, _cell(value)))
    if plain:
        yield Table(RECORD, ("", ""), tuple(Row(name, (name, text)) for name, text in plain))


def _records(title: str, records: tuple[Any, ...]) -> Table:
    """Show records, a line each, without the columns that say nothing in any of them."""
    names = records[0].__struct_fields__
    shown = [name for name in names if any(not _is_nothing(getattr(one, name)) for one in records)]
    rows = (Row(_key(one), tuple(_cell(getattr(one, name)) for name in shown)) for one in records)
    return Table(title, tuple(map(_words, shown)), tuple(rows))


def _key(record: Any) -> str:
    """Say which record it is: its first field, or of a message all of it."""
    if hasattr(record, "label"):
        return f"{record.label} {record.source} {record.target}"
    return str(getattr(record, record.__struct_fields__[0]))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _is_nothing(value: object) -> bool:
    return value is None or value is False or value in ((), "none", "")


def _cell(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else ""
        case None | "none":
            return ""
        case tuple():
            return ", ".join(_pair(one) if isinstance(one, tuple) else str(one) for one in value)
        case _:
            return str(value)


def _pair(pair: tuple[Any, ...]) -> str:
    """Say how many there are of something, or where it is."""
    return ": ".join(map(str, pair)) if isinstance(pair[-1], int) else " on ".join(map(str, pair))
