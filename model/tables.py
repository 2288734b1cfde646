"""How a table of transitions is written: each row has an event, the phases in which it can happen, and what may follow.

A protocol file opens with such a table, to be read. It decides nothing: the handlers below it do, and a test takes every
step of small worlds to see that what happens is what the table says, no more and no less.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

Event = Any
"""The class of a message that arrives or of an action that is taken; for an answer, `Ack` and the class it answers."""

Outcomes = frozenset[tuple[IntEnum | None, frozenset[type]]]
"""What may follow: each phase it may lead to (None: the same), and every kind of message that may be sent then."""

Transitions = Mapping[tuple[Event, IntEnum], Mapping[IntEnum, frozenset[type]]]


def to(phase: IntEnum | None, *sends: type) -> Outcomes:
    """Lead to a phase, and send messages of these kinds, or some of them. One or the other is written with `|`."""
    return frozenset({(phase, frozenset(sends))})


def stays(*sends: type) -> Outcomes:
    """Stay in the phase, and send messages of these kinds, or some of them."""
    return to(None, *sends)


def transitions(*rows: tuple[Event, tuple[IntEnum, ...], Outcomes]) -> Transitions:
    """Read a table: what follows, by event and phase."""
    table: dict[tuple[Event, IntEnum], Mapping[IntEnum, frozenset[type]]] = {}
    for event, phases, outcomes in rows:
        for phase in phases:
            assert (event, phase) not in table, f"two rows for {event} in {phase!r}"
            table[event, phase] = {phase if then is None else then: sends for then, sends in outcomes}
    return table
