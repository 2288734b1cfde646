"""The root's side of a pass: begin, keep the ledger, decide at each standstill, end (A10, A14 to A20).

A pass that is not in `passes` is over, whatever became of it. So nothing is remembered of passes that have ended, and a late
report is answered with `Abort` (A19). Everything that changes a pass is in this file, and `TRANSITIONS` lists it.
"""

from __future__ import annotations

from typing import Any, Final, assert_never

from farref.impl.core.autograd.effects import PassEnded, Work
from farref.impl.core.autograd.engaging import Engaging
from farref.impl.core.autograd.graph import Node
from farref.impl.core.autograd.ids import ContextId, PassId
from farref.impl.core.autograd.ledger import Pass, Phase, Unreached
from farref.impl.core.autograd.messages import (
    Abort,
    Begin,
    Cause,
    Commit,
    Committed,
    Counted,
    Fault,
    Kind,
    Report,
    Resume,
    Seek,
    counted,
)
from farref.impl.core.autograd.tables import EngineTables
from farref.impl.core.ids import WorkerId
from farref.impl.core.transitions import SAME, transitions
from farref.impl.errors import PassRefused

RUNNING, MARKING, RESUMED, COMMITTING, OVER = Phase
ACTIVE: Final = (RUNNING, MARKING, RESUMED)
"""In these a pass can still fail."""

# fmt: off
TRANSITIONS: Final = transitions(
    # handler          in phase                 leads to     and may ask for
    ("begin",          (OVER,),                 RUNNING,     (Work,)),
    ("on_report",      ACTIVE,                  SAME,        ()),
    ("on_report",      (RUNNING,),              MARKING,     (Seek,)),
    ("on_report",      (MARKING,),              RESUMED,     (Resume,)),
    ("on_report",      (RUNNING, RESUMED),      COMMITTING,  (Commit,)),
    ("on_report",      ACTIVE,                  OVER,        (Abort, PassEnded)),
    ("on_report",      (OVER,),                 SAME,        (Abort,)),
    ("on_committed",   (COMMITTING,),           SAME,        ()),
    ("on_committed",   (COMMITTING,),           OVER,        (PassEnded,)),
    ("time_out",       ACTIVE,                  OVER,        (Abort, PassEnded)),
    ("time_out",       (COMMITTING, OVER),      SAME,        ()),
    ("fail_pass_of",   ACTIVE,                  OVER,        (Abort, PassEnded)),
    ("fail_pass_of",   (COMMITTING,),           SAME,        ()),
    ("on_excluded",    (*ACTIVE, COMMITTING),   OVER,        (PassEnded,)),
    ("on_death",       (*ACTIVE, COMMITTING),   SAME,        ()),
    ("on_death",       ACTIVE,                  OVER,        (Abort, PassEnded)),
    ("on_death",       (COMMITTING,),           OVER,        (PassEnded,)),
)
# fmt: on
"""What can happen to a pass on its root."""


class Rooting:
    """What a root does."""

    def __init__(self, tables: EngineTables, engaging: Engaging) -> None:
        self._tables, self._engaging = tables, engaging
        self._me, self._tell, self._emit, self._dead = tables.me, tables.tell, tables.emit, tables.dead
        self._passes = tables.passes

    def begin(self, context_id: ContextId, root: Node, seeds: Any, smart: bool, retain: bool) -> PassId:
        """Begin a pass on this worker (A10). The roots have been looked at."""
        tables = self._tables
        context = tables.opened(context_id)
        if context.task is not None or context_id in tables.rooted:
            raise PassRefused(f"worker {self._me} is in a pass of {context_id.told} already")
        pass_id = PassId(context_id, self._me, tables.incarnation, tables.mint(), smart, retain)
        run = self._passes[pass_id] = tables.rooted[context_id] = Pass(pass_id, engaged={self._me: None})
        run.cause([Counted(Kind.BEGIN, self._me)])
        self._emit(Work(self._engaging.engage(context, pass_id, root, seeds), Begin(pass_id)))
        return pass_id

    def time_out(self, pass_id: PassId) -> None:
        """Fail a pass whose time is up, unless it is decided (A20)."""
        run = self._undecided(pass_id)
        if run is not None:
            self._fail(run, Fault(Cause.TIMED_OUT, self._me))

    def on_report(self, source: WorkerId, report: Report) -> None:
        """Enter a report, and go on at once if that is a standstill; answer a latecomer (A14, A18, A19)."""
        run = self._undecided(report.pass_id)
        if run is None:
            is_engaged = report.fault is None or report.fault.cause is Cause.UNPAIRED
            if is_engaged and report.pass_id not in self._passes:
                self._tell(source, Abort(report.pass_id))
        elif report.fault is not None:
            self._fail(run, report.fault)
        else:
            run.enter(source, report)
            lost = self._dead and [message.worker for message in run.under_way if message.worker in self._dead]
            if lost:
                self._fail(run, Fault(Cause.DIED, min(lost)))
            else:
                self._decide(run)

    def on_committed(self, source: WorkerId, committed: Committed) -> None:
        """Hear that gradients can be seen on a worker (A17)."""
        run = self._passes.get(committed.pass_id)
        if run is not None:
            self._strike_out(run, source)

    def fail_pass_of(self, context_id: ContextId, fault: Fault) -> None:
        """Fail the pass that this worker is the root of in a context, unless it is decided (A20, A24)."""
        run = self._tables.rooted.get(context_id)
        if run is not None and run.phase is not Phase.COMMITTING:
            self._fail(run, fault)

    def on_excluded(self) -> None:
        """Fail every pass, decided or not, as this worker is excluded: it cannot know who has committed (A29). Tell nobody."""
        for run in list(self._passes.values()):
            self._forget(run)
            self._engaging.leave(run.pass_id)
            self._emit(PassEnded(run.pass_id, Fault(Cause.DIED, self._me), late=run.late()))

    def on_death(self, peer: WorkerId) -> None:
        """Fail the passes that a dead worker had a part in; those that are decided wait for it no longer (A21)."""
        for run in list(self._passes.values()):
            if run.phase is Phase.COMMITTING:
                self._strike_out(run, peer)
            elif peer in run.engaged or peer in run.late():
                self._fail(run, Fault(Cause.DIED, peer))

    def _undecided(self, pass_id: PassId) -> Pass | None:
        run = self._passes.get(pass_id)
        return None if run is None or run.phase is Phase.COMMITTING else run

    def _decide(self, run: Pass) -> None:
        """Go on at a standstill (A14 to A17)."""
        if not run.is_at_standstill():
            return
        missing = run.missing()
        match run.phase:
            case Phase.RUNNING if missing and not run.pass_id.smart:
                self._fail(run, Fault(Cause.UNREACHED, missing[0].worker), missing)
            case Phase.RUNNING if missing:
                self._ask(run, Phase.MARKING, Seek(run.pass_id))
            case Phase.MARKING:
                self._ask(run, Phase.RESUMED, Resume(run.pass_id))
            case Phase.RUNNING | Phase.RESUMED:
                self._commit(run)
            case Phase.COMMITTING | Phase.OVER:
                pass
            case _:
                assert_never(run.phase)

    def _ask(self, run: Pass, phase: Phase, question: Seek | Resume) -> None:
        """Ask everybody who takes part, oneself included (A16)."""
        run.phase = phase
        for worker in tuple(run.engaged):
            run.cause([counted(question, worker)])
            self._tell(worker, question)

    def _commit(self, run: Pass) -> None:
        """Decide that a pass has ended well. This is final (A17, A20)."""
        run.phase = Phase.COMMITTING
        run.uncommitted = set(run.engaged)
        for worker in run.engaged:
            self._tell(worker, Commit(run.pass_id))

    def _strike_out(self, run: Pass, worker: WorkerId) -> None:
        """Wait for a worker no longer; the last one ends the pass (A17)."""
        run.uncommitted.discard(worker)
        if run.phase is Phase.COMMITTING and not run.uncommitted:
            self._forget(run)
            self._emit(PassEnded(run.pass_id))

    def _fail(self, run: Pass, fault: Fault, unreached: tuple[Unreached, ...] = ()) -> None:
        """End a pass with a fault, at once: leave, tell all who take part, and wait for nobody (A18)."""
        self._forget(run)
        self._engaging.leave(run.pass_id)
        for worker in run.engaged:
            if worker != self._me:
                self._tell(worker, Abort(run.pass_id))
        self._emit(PassEnded(run.pass_id, fault, unreached, run.late()))

    def _forget(self, run: Pass) -> None:
        run.phase = Phase.OVER
        del self._passes[run.pass_id]
        self._tables.rooted.pop(run.pass_id.context, None)
