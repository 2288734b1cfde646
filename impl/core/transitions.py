"""How the table at the top of a protocol file is written: handlers, and what each may do to one entry, record, pass or context.

A row has the name of a handler, the phases in which it may be called, the phase after it, and the kinds of messages and effects
that may come of it. A row for each phase that may follow; `SAME` is the phase before. A table decides nothing: it is there to
be read first. A test takes many random steps, and holds each table against what the handlers did: no more and no less.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

SAME: Final = None
"""The phase before."""

Row = tuple[str, tuple[Enum, ...], Enum | None, tuple[type, ...]]
Transitions = Mapping[tuple[str, Enum, Enum], frozenset[type]]
"""What may come of a handler, by its name, the phase before and the phase after."""


def transitions(*rows: Row) -> Transitions:
    """Read a table."""
    table: dict[tuple[str, Enum, Enum], frozenset[type]] = {}
    for event, phases, after, emits in rows:
        for before in phases:
            move = event, before, before if after is None else after
            assert move not in table, f"two rows for {move}"
            table[move] = frozenset(emits)
    return table
