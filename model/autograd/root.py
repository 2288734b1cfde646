"""The root's side: one pass, from `backward` to its outcome. Everything that decides about a pass is in this file.

Theory of operation. The root has to know when nothing of its pass is under way any more. It keeps a *ledger* (A14). Every
counted message is followed by a report to the root, which names the message that was processed and those that it caused.
The root writes both down; when every message that was caused was also processed, nothing is under way, and nothing ever
will be, as workers act only on messages. A report may arrive before the one that tells of its cause: then the line is
PROCESSED, and waits for the other half. Reports need no order and no tree, and the last one goes straight to the root.

At such a standstill either every expected send has got its gradient, and the pass is decided: COMMIT. Or some send has not.
In FAST that is an error, which names it. In SMART the root asks which sends a gradient can still come for (Seek and Mark),
waits for the next standstill, and has the others given up (Resume). After the standstill that follows, all is there (A16).

Where FAST suffices SMART therefore sends not one message more; that is why the marks come on demand, and not before.

A pass that fails is over at once for its caller, and for others as they hear of it: who has reported is told, and who
reports later is answered (A18, A19). The root needs no list of those who may still be reached.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from farref.model.autograd.ids import PairId, PassId
from farref.model.autograd.messages import Abort, Commit, Counted, PropagateGradients, Resume, Seek
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.worker import Fault, Parcel, Told
from farref.model.ids import WorkerId
from farref.model.values import IdSet, Table, no_ids


class Phase(IntEnum):
    """The life of a pass."""

    IDLE = 0  # not begun
    RUNNING = 1  # gradients flow
    MARKING = 2  # at a standstill, it is found out which sends a gradient can still come for (SMART)
    RESUMED = 3  # the others were given up, and gradients flow again (SMART)
    COMMITTING = 4  # decided: workers let their gradients be seen
    SUCCEEDED = 5  # backward has returned
    FAILED = 6  # backward has raised


class Line(IntEnum):
    """What the ledger says of a message."""

    BLANK = 0
    CAUSED = 1  # somebody sent it
    PROCESSED = 2  # somebody processed it, and who sent it has not reported yet
    BALANCED = 3  # both


class Pass(NamedTuple):
    """What the root knows of a pass (A10)."""

    root: WorkerId | None
    phase: Phase
    fault: Fault
    blamed: WorkerId | None  # the worker that the error names
    ledger: Table[Line]  # by number of counted message
    expected: IdSet  # the sends that somebody waits for
    engaged: IdSet  # the workers that take part, as far as is known
    committed: IdSet  # those that have committed


Step = tuple[Pass, tuple[Parcel, ...]]


def no_pass(workers: int, pairs: int) -> Pass:
    """Make the record of a pass that has not begun."""
    ledger = Table((Line.BLANK,) * (2 * pairs + 2 * workers))
    return Pass(None, Phase.IDLE, Fault.NONE, None, ledger, no_ids(pairs), no_ids(workers), no_ids(workers))


def counted_number(message: Counted, pairs: int, workers: int) -> int:
    """Number the counted messages of a pass, for the ledger."""
    match message:
        case Seek(_, worker):
            return 2 * pairs + worker
        case Resume(_, worker):
            return 2 * pairs + workers + worker
        case PropagateGradients(_, pair):
            return pair
        case _:
            return pairs + message.pair


def is_active(record: Pass) -> bool:
    """Say whether a pass can still fail."""
    return record.phase in (Phase.RUNNING, Phase.MARKING, Phase.RESUMED)


def begin(record: Pass, root: WorkerId) -> Pass:
    """Begin a pass (A10)."""
    return record._replace(root=root, phase=Phase.RUNNING)


def enter(record: Pass, who: WorkerId, of: Counted | None, told: Told) -> Pass:
    """Enter a report into the ledger: what was processed, what it caused, and who waits for what (A14)."""
    ledger, pairs, workers = record.ledger, len(record.expected), len(record.engaged)
    if of is not None:
        place = counted_number(of, pairs, workers)
        is_known = ledger[place] in (Line.CAUSED, Line.BALANCED)
        ledger = ledger.put(place, Line.BALANCED if is_known else Line.PROCESSED)
    for caused in sorted(counted_number(one, pairs, workers) for one in told.caused):
        was_processed = ledger[caused] in (Line.PROCESSED, Line.BALANCED)
        ledger = ledger.put(caused, Line.BALANCED if was_processed else Line.CAUSED)
    expected = record.expected
    for pair in sorted(told.expected):
        expected = expected.add(pair)
    return record._replace(ledger=ledger, expected=expected, engaged=record.engaged.add(who))


def is_at_standstill(record: Pass) -> bool:
    """Say whether nothing of the pass is under way: whatever was caused was processed (A14)."""
    return not any(line in (Line.CAUSED, Line.PROCESSED) for line in record.ledger)


def missing(record: Pass) -> list[PairId]:
    """List the sends that somebody waits for and that no gradient came for, as far as the root knows."""
    found = (PairId(pair) for pair in range(len(record.expected)))
    return [pair for pair in found if pair in record.expected and record.ledger[pair] is not Line.BALANCED]


def awaited(record: Pass) -> list[PairId]:
    """List the pairs that a gradient or a mark was sent for, and that nobody is known to have processed."""
    pairs = len(record.expected)
    lines = ((PairId(place % pairs), record.ledger[place]) for place in range(2 * pairs))
    return [pair for pair, line in lines if line is Line.CAUSED]


def ask_everyone(record: Pass, kind: type[Seek | Resume], number: PassId) -> Step:
    """Send a question to every worker that takes part; the root asks itself without a message (A16)."""
    messages = [kind(number, worker) for worker in others(record)]
    asked = enter(record, _root(record), None, Told(frozenset(messages)))
    return asked, tuple((message, True) for message in messages)


def commit(record: Pass, number: PassId, rules: AutogradRules) -> Step:
    """Decide that the pass has ended well, and tell everyone who takes part (A17)."""
    decided = record._replace(phase=Phase.COMMITTING, committed=record.committed.add(_root(record)))
    if not rules.stages_until_commit:
        return decided._replace(phase=Phase.SUCCEEDED), ()
    sends = tuple((Commit(number, worker), True) for worker in others(record))
    return _return_if_done(decided, rules), sends


def on_committed(record: Pass, who: WorkerId, rules: AutogradRules) -> Pass:
    """Return from `backward` when every worker shows its gradients (A17)."""
    if record.phase is not Phase.COMMITTING:
        return record
    return _return_if_done(record._replace(committed=record.committed.add(who)), rules)


def _return_if_done(record: Pass, rules: AutogradRules) -> Pass:
    is_done = all(worker in record.committed for worker in [_root(record), *others(record)])
    return record._replace(phase=Phase.SUCCEEDED) if is_done or not rules.returns_after_commit else record


def fail(record: Pass, number: PassId, fault: Fault, blamed: WorkerId, rules: AutogradRules) -> Step:
    """Raise from `backward`, and end the pass on every worker that is known to take part (A18)."""
    failed = record._replace(phase=Phase.FAILED, fault=fault, blamed=blamed)
    if not rules.aborts_everywhere:
        return failed, ()
    return failed, tuple((Abort(number, worker), True) for worker in others(record))


def others(record: Pass) -> list[WorkerId]:
    """List the workers that take part, without the root."""
    return [
        worker
        for worker in map(WorkerId, range(len(record.engaged)))
        if worker in record.engaged and worker != record.root
    ]


def _root(record: Pass) -> WorkerId:
    assert record.root is not None, "a pass that has begun has a root"
    return record.root
