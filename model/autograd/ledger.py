"""The ledger of a pass: which counted messages were sent, and which were processed (A14).

Every counted message is followed by a report to the root, which names the message that was processed and those that it
caused. The root writes both down. When every message that was caused was also processed, nothing is under way, and nothing
ever will be, as workers act only on messages. A report may arrive before the one that tells of its cause: then the line is
PROCESSED, and waits for the other half. Reports need no order and no tree, and the last one goes straight to the root.
"""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from farref.model.autograd import messages as msg
from farref.model.values import Table


class Line(IntEnum):
    """What the ledger says of a message."""

    BLANK = 0
    CAUSED = 1  # somebody sent it
    PROCESSED = 2  # somebody processed it, and who sent it has not reported yet
    BALANCED = 3  # both


Ledger = Table[Line]
"""By number of counted message."""


def blank(pairs: int, workers: int) -> Ledger:
    """Make the ledger of a pass that has not begun."""
    return Table((Line.BLANK,) * (2 * pairs + 2 * workers))


def counted_number(message: msg.Counted, pairs: int, workers: int) -> int:
    """Number the counted messages of a pass."""
    match message:
        case msg.PropagateGradients(_, pair):
            return pair
        case msg.Mark(_, pair):
            return pairs + pair
        case msg.Seek(_, worker):
            return 2 * pairs + worker
        case msg.Resume(_, worker):
            return 2 * pairs + workers + worker
        case _:
            assert_never(message)


def note_processed(ledger: Ledger, number: int) -> Ledger:
    """Write down that a message was processed."""
    is_known = ledger[number] in (Line.CAUSED, Line.BALANCED)
    return ledger.put(number, Line.BALANCED if is_known else Line.PROCESSED)


def note_caused(ledger: Ledger, number: int) -> Ledger:
    """Write down that a message was sent."""
    was_processed = ledger[number] in (Line.PROCESSED, Line.BALANCED)
    return ledger.put(number, Line.BALANCED if was_processed else Line.CAUSED)


def is_balanced(ledger: Ledger) -> bool:
    """Say whether nothing is under way: whatever was caused was processed."""
    return not any(line in (Line.CAUSED, Line.PROCESSED) for line in ledger)
