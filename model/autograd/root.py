"""The root's side: one pass, from `backward` to its outcome. Everything that changes the root's record of it is in this file.

Theory of operation. The root has to know when nothing of its pass is under way any more. It keeps a ledger of the messages
that were sent and processed (`ledger.py`), and the pass is at a standstill when the ledger is balanced (A14).

At such a standstill either every expected send has got its gradient, and the pass is decided: COMMIT. Or some send has not.
In FAST that is an error, which names it. In SMART the root asks which sends a gradient can still come for (Seek and Mark),
waits for the next standstill, and has the others given up (Resume). After the standstill that follows, all is there (A16).

Where FAST suffices SMART therefore sends not one message more; that is why the marks come on demand, and not before.

A pass that fails is over at once for its caller, and for others as they hear of it: who has reported is told, and who
reports later is answered (A18, A19). The root needs no list of those who may still be reached.

Each handler gets the root's record of the pass and gives back the record, the messages to send, and what the root tells
itself, as it takes part too: that takes effect at once, without a message (`Own`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from farref.model.actions import Install
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import PairId, PassId
from farref.model.autograd.ledger import Ledger, Line, blank, counted_number, is_balanced, note_caused, note_processed
from farref.model.autograd.messages import Fault, Told
from farref.model.autograd.rules import AutogradRules
from farref.model.ids import WorkerId
from farref.model.tables import stays, to, transitions
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


IDLE, RUNNING, MARKING, RESUMED, COMMITTING, SUCCEEDED, FAILED = Phase
ACTIVE: Final = (RUNNING, MARKING, RESUMED)
"""In these a pass can still fail."""

DONE: Final = to(COMMITTING, msg.Commit) | to(SUCCEEDED)  # SUCCEEDED at once where nobody but the root takes part

# fmt: off
TRANSITIONS: Final = transitions(
    # event               in phase                         may lead to, and send
    (act.Backward,        (IDLE,),                         to(RUNNING) | to(MARKING) | to(SUCCEEDED) | to(FAILED)),
    (msg.Report,          (RUNNING,),                      stays() | to(MARKING, msg.Seek) | DONE | to(FAILED, msg.Abort)),
    (msg.Report,          (MARKING,),                      stays() | to(RESUMED, msg.Resume) | to(FAILED, msg.Abort)),
    (msg.Report,          (RESUMED,),                      stays() | DONE | to(FAILED, msg.Abort)),
    (msg.Report,          (FAILED,),                       stays(msg.Abort)),
    (msg.Told,            (MARKING,),                      stays() | to(RESUMED)),
    (msg.Told,            (RESUMED,),                      stays() | to(SUCCEEDED)),
    (msg.Committed,       (COMMITTING,),                   stays() | to(SUCCEEDED)),
    (act.TimeOut,         ACTIVE,                          to(FAILED, msg.Abort)),
    (act.ReleaseContext,  ACTIVE,                          to(FAILED, msg.Abort)),
    (act.ReleaseContext,  (COMMITTING, SUCCEEDED, FAILED), stays()),
    (msg.CleanupContext,  ACTIVE,                          to(FAILED, msg.Abort)),
    (msg.CleanupContext,  (COMMITTING, SUCCEEDED, FAILED), stays()),
    (act.Notice,          ACTIVE,                          stays() | to(FAILED, msg.Abort)),
    (act.Notice,          (COMMITTING,),                   stays() | to(SUCCEEDED)),
    (act.Notice,          (SUCCEEDED, FAILED),             stays()),
    (Install,         ACTIVE,                          stays() | to(FAILED, msg.Abort)),
    (Install,         (COMMITTING,),                   stays() | to(SUCCEEDED)),
    (Install,         (SUCCEEDED, FAILED),             stays()),
    (act.Fence,           (*ACTIVE, COMMITTING),           to(FAILED)),
    (act.Fence,           (SUCCEEDED, FAILED),             stays()),
    (msg.Forget,          (COMMITTING,),                   stays() | to(SUCCEEDED)),  # it may name somebody dead
    (msg.Forget,          (SUCCEEDED, FAILED),             stays()),
)
# fmt: on
"""What can happen to a pass where all rules are followed. Told is what the root answers to its own question."""


class Pass(NamedTuple):
    """What the root knows of a pass (A10)."""

    root: WorkerId | None
    phase: Phase
    fault: Fault
    blamed: WorkerId | None  # the worker that the error names
    ledger: Ledger
    expected: IdSet  # the sends that somebody waits for
    engaged: IdSet  # the workers that take part, as far as is known
    committed: IdSet  # those that have committed


@dataclass(frozen=True, slots=True)
class Setting:
    """What a root goes by, besides its record of the pass."""

    number: PassId
    graph: Graph
    smart: bool  # SMART, not FAST
    mourned: IdSet  # the workers that were declared dead to it
    rules: AutogradRules


Own = msg.Seek | msg.Resume | msg.Commit | msg.Abort

Step = tuple[Pass, tuple[msg.PassParcel, ...], Own | None]


def no_pass(workers: int, pairs: int) -> Pass:
    """Make the record of a pass that has not begun."""
    nobody = no_ids(workers)
    return Pass(None, Phase.IDLE, Fault.NONE, None, blank(pairs, workers), no_ids(pairs), nobody, nobody)


def may_begin(passes: Table[Pass], who: WorkerId) -> bool:
    """Say whether a worker is the root of no pass that has begun and not ended (A10)."""
    return not any(one.root == who and one.phase < Phase.SUCCEEDED for one in passes)


# -- what the root hears -----------------------------------------------------------------------------------------------


def begin(record: Pass, who: WorkerId, told: Told, setting: Setting) -> Step:
    """Begin a pass, and enter what the root itself sends and waits for (A10)."""
    begun = record._replace(root=who, phase=Phase.RUNNING)
    return decide(enter(begun, who, None, told), setting)


def on_report(record: Pass, of: msg.Counted, who: WorkerId, told: Told, setting: Setting) -> Step:
    """Enter a report into the ledger, fail with it, or answer one that comes too late (A14, A18, A19)."""
    if record.phase not in ACTIVE:
        return _answer_latecomer(record, who, told, setting)
    if told.fault is Fault.UNPAIRED:
        record = record._replace(engaged=record.engaged.add(who))
    if told.fault is not Fault.NONE:
        return fail(record, told.fault, who if told.blamed is None else told.blamed, setting)
    return decide(enter(record, who, of, told), setting)


def on_own_answer(record: Pass, told: Told | None, setting: Setting) -> Step:
    """Enter what the root answers to its own question; None if it is not in the pass any more (A16)."""
    answered = record if told is None else enter(record, _root(record), None, told)
    return decide(answered, setting)


def on_committed(record: Pass, who: WorkerId, setting: Setting) -> Step:
    """Return from `backward` when every worker shows its gradients (A17)."""
    if record.phase is not Phase.COMMITTING:
        return record, (), None
    return _return_if_done(record._replace(committed=record.committed.add(who)), setting.rules), (), None


def time_out(record: Pass, setting: Setting) -> Step | None:
    """Give up a pass, if it is not decided (A20)."""
    is_too_late = record.phase is not Phase.COMMITTING or setting.rules.decision_is_final
    if record.root is None or (record.phase not in ACTIVE and is_too_late):
        return None
    return fail(record, Fault.TIMED_OUT, record.root, setting)


def on_closed_context(record: Pass, setting: Setting) -> Step:
    """End a pass whose root closes the context (A24)."""
    if not setting.rules.release_ends_passes or record.phase not in ACTIVE:
        return record, (), None
    return fail(record, Fault.RELEASED, _root(record), setting)


def on_creator_died(record: Pass, dead: WorkerId, setting: Setting) -> Step:
    """End a pass on a context that nobody is left to release (A21)."""
    return fail(record, Fault.DIED, dead, setting) if record.phase in ACTIVE else (record, (), None)


def on_excluded(record: Pass, setting: Setting) -> Step:
    """Raise from `backward`, as the root itself is excluded: it cannot know who has committed, and tells nobody (A29)."""
    if record.phase is Phase.COMMITTING and not setting.rules.raises_when_excluded:
        return record._replace(phase=Phase.SUCCEEDED), (), None
    raised = record._replace(phase=Phase.FAILED, fault=Fault.EXCLUDED, blamed=record.root)
    return (raised if record.phase < Phase.SUCCEEDED else record), (), None


def on_death(record: Pass, dead: WorkerId, setting: Setting) -> Step:
    """Fail a pass that the dead take part in; one that is decided does not wait for them (A21)."""
    if record.phase is Phase.COMMITTING:
        return on_committed(record, dead, setting)
    return decide(record, setting)


# -- what follows from it ----------------------------------------------------------------------------------------------


def decide(record: Pass, setting: Setting) -> Step:
    """Go on with a pass that has come to a standstill (A14 to A17)."""
    if record.phase not in ACTIVE:
        return record, (), None
    dead = _dead_in(record, setting)
    if dead is not None:
        return fail(record, Fault.DIED, dead, setting)
    if not is_balanced(record.ledger):
        return record, (), None
    absent = missing(record)
    if record.phase is Phase.RESUMED or not absent:
        return commit(record, setting)
    if not setting.rules.notices_standstill:
        return record, (), None
    if not setting.smart:
        return fail(record, Fault.UNREACHED, setting.graph.pairs[absent[0]].source, setting)
    if record.phase is Phase.RUNNING and setting.rules.marks_before_pruning:
        return ask(record._replace(phase=Phase.MARKING), msg.Seek, setting.number)
    return ask(record._replace(phase=Phase.RESUMED), msg.Resume, setting.number)


def ask(record: Pass, kind: type[msg.Seek | msg.Resume], number: PassId) -> Step:
    """Put a question to every worker that takes part (A16)."""
    questions = [kind(number, worker) for worker in others(record)]
    asked = enter(record, _root(record), None, Told(frozenset(questions)))
    return asked, tuple((question, True) for question in questions), kind(number, _root(record))


def commit(record: Pass, setting: Setting) -> Step:
    """Decide that the pass has ended well, and tell everyone who takes part (A17)."""
    number, own = setting.number, msg.Commit(setting.number, _root(record))
    decided = record._replace(phase=Phase.COMMITTING, committed=record.committed.add(_root(record)))
    if not setting.rules.stages_until_commit:
        return decided._replace(phase=Phase.SUCCEEDED), (), own
    decided = _return_if_done(decided, setting.rules)
    return decided, tuple((msg.Commit(number, worker), True) for worker in others(record)), own


def _return_if_done(record: Pass, rules: AutogradRules) -> Pass:
    is_done = all(worker in record.committed for worker in [_root(record), *others(record)])
    return record._replace(phase=Phase.SUCCEEDED) if is_done or not rules.returns_after_commit else record


def fail(record: Pass, fault: Fault, blamed: WorkerId, setting: Setting) -> Step:
    """Raise from `backward`, and end the pass on every worker that is known to take part (A18)."""
    number, own = setting.number, msg.Abort(setting.number, _root(record))
    failed = record._replace(phase=Phase.FAILED, fault=fault, blamed=blamed)
    if not setting.rules.aborts_everywhere:
        return failed, (), own
    return failed, tuple((msg.Abort(number, worker), True) for worker in others(record)), own


def _answer_latecomer(record: Pass, who: WorkerId, told: Told, setting: Setting) -> Step:
    """Tell a worker that its pass is over; once is enough, and who refused the pass need not be told (A19)."""
    takes_part = told.fault in (Fault.NONE, Fault.UNPAIRED)
    if not setting.rules.answers_latecomers or not takes_part or who in record.engaged or who == record.root:
        return record, (), None
    return record._replace(engaged=record.engaged.add(who)), ((msg.Abort(setting.number, who), True),), None


# -- the ledger --------------------------------------------------------------------------------------------------------


def enter(record: Pass, who: WorkerId, of: msg.Counted | None, told: Told) -> Pass:
    """Enter a report into the ledger: what was processed, what it caused, and who waits for what (A14)."""
    ledger, pairs, workers = record.ledger, len(record.expected), len(record.engaged)
    if of is not None:
        ledger = note_processed(ledger, counted_number(of, pairs, workers))
    for number in sorted(counted_number(one, pairs, workers) for one in told.caused):
        ledger = note_caused(ledger, number)
    expected = record.expected
    for pair in sorted(told.expected):
        expected = expected.add(pair)
    return record._replace(ledger=ledger, expected=expected, engaged=record.engaged.add(who))


def missing(record: Pass) -> list[PairId]:
    """List the sends that somebody waits for and that no gradient came for, as far as the root knows."""
    return [pair for pair in map(PairId, record.expected.members()) if record.ledger[pair] is not Line.BALANCED]


def awaited(record: Pass) -> list[PairId]:
    """List the pairs that a gradient or a mark was sent for, and that nobody is known to have processed."""
    pairs = len(record.expected)
    lines = ((PairId(place % pairs), record.ledger[place]) for place in range(2 * pairs))
    return [pair for pair, line in lines if line is Line.CAUSED]


def _dead_in(record: Pass, setting: Setting) -> WorkerId | None:
    """Find a worker that its root knows to be dead and that takes part, or has been sent something (A21)."""
    sent_to = {setting.graph.pairs[pair].source for pair in awaited(record)}
    lost = (dead for dead in map(WorkerId, setting.mourned.members()) if dead in record.engaged or dead in sent_to)
    return next(lost, None)


def others(record: Pass) -> list[WorkerId]:
    """List the workers that take part, without the root."""
    return [worker for worker in map(WorkerId, record.engaged.members()) if worker != record.root]


def _root(record: Pass) -> WorkerId:
    assert record.root is not None, "a pass that has begun has a root"
    return record.root
