"""A worker's side of a pass: to engage, to work, to report, to leave (A11 to A13, A17 to A19).

A handler asks first whether the pass concerns this worker at all (`_admit`): that is where passes are told apart. The work
itself happens elsewhere (see `task`). When it is done, the worker may have left the pass; then nobody wants its result.

A context enters a pass here and leaves it here, or it is closed or dropped (`contexts`). `TRANSITIONS` lists the former.
"""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.autograd.effects import Work
from farref.impl.core.autograd.graph import Node
from farref.impl.core.autograd.ids import PassId
from farref.impl.core.autograd.messages import (
    Abort,
    Begin,
    Cause,
    Commit,
    Committed,
    Counted,
    CountedBody,
    Fault,
    Kind,
    Mark,
    PropagateGradients,
    Report,
    Resume,
    Seek,
    Waits,
    counted,
)
from farref.impl.core.autograd.tables import Context, EngineTables, Stage
from farref.impl.core.autograd.task import Progress, Task
from farref.impl.core.ids import WorkerId
from farref.impl.core.transitions import SAME, transitions

ABSENT, OPEN, IN_PASS, CLOSED = Stage

# fmt: off
TRANSITIONS: Final = transitions(
    # handler             in phase                        leads to  and may ask for
    ("engage",            (OPEN,),                        IN_PASS,  ()),
    ("on_counted",        (OPEN,),                        IN_PASS,  (Work,)),
    ("on_counted",        (OPEN,),                        SAME,     ()),
    ("on_counted",        (IN_PASS,),                     SAME,     (Work, Report)),
    ("on_counted",        (ABSENT, CLOSED),               SAME,     (Report,)),
    ("worked",            (IN_PASS,),                     SAME,     (PropagateGradients, Mark, Report)),
    ("worked",            (IN_PASS,),                     OPEN,     (Report,)),
    ("worked",            (ABSENT, OPEN, CLOSED),         SAME,     ()),
    ("raised",            (IN_PASS,),                     OPEN,     (Report,)),
    ("raised",            (ABSENT, OPEN, IN_PASS, CLOSED),SAME,     ()),
    ("on_commit",         (IN_PASS,),                     OPEN,     (Committed,)),
    ("on_commit",         (ABSENT, CLOSED),               SAME,     (Committed,)),
    ("on_abort",          (IN_PASS,),                     OPEN,     ()),
    ("on_abort",          (ABSENT, OPEN, IN_PASS, CLOSED),SAME,     ()),
    ("leave",             (IN_PASS,),                     OPEN,     ()),
    ("leave",             (OPEN,),                        SAME,     ()),
    ("leave_passes_of",   (IN_PASS,),                     OPEN,     ()),
    ("leave_passes_of",   (OPEN, IN_PASS, CLOSED),        SAME,     ()),
)
# fmt: on
"""What passes do to a context on one worker. IN_PASS may stay IN_PASS with another pass: a newer one of the same root (A12)."""


class Engaging:
    """What messages of a pass do on a worker that takes part, or does not."""

    def __init__(self, tables: EngineTables) -> None:
        self._me, self._tell, self._emit, self._dead = tables.me, tables.tell, tables.emit, tables.dead
        self._contexts = tables.contexts

    # Work

    def worked(self, work: Work, progress: Progress) -> None:
        """Send what came of a message, and report (A5)."""
        task, body = work.task, work.body
        context = self._contexts.get(task.pass_id.context)
        if context is None or context.task is not task:
            return
        pass_id, caused = task.pass_id, []
        if self._dead and pass_id.root != self._me and (lost := self._lost(progress)):
            context.task = None
            self._report_fault(body, Fault(Cause.DIED, lost[0]))
            return
        for forward, written in progress.gradients:
            self._tell(forward.created_on, PropagateGradients(pass_id, forward, written))
            caused.append(Counted(Kind.GRADIENTS, forward.created_on, forward))
        for forward in progress.marks:
            self._tell(forward.created_on, Mark(pass_id, forward))
            caused.append(Counted(Kind.MARK, forward.created_on, forward))
        waits = None
        if progress.waits is not None:
            waits = tuple([Waits(forward, context.sends[forward].function) for forward in progress.waits])
        processed = (
            Counted(Kind.GRADIENTS, self._me, body.forward) if type(body) is PropagateGradients else self._name(body)
        )
        self._tell(pass_id.root, Report(pass_id, processed, tuple(caused), waits, None))

    def _lost(self, progress: Progress) -> list[WorkerId]:
        """List the dead among those that something is to be sent to. The root may not know that they are (A21)."""
        forwards = (*(forward for forward, _ in progress.gradients), *progress.marks)
        return sorted(forward.created_on for forward in forwards if forward.created_on in self._dead)

    def raised(self, work: Work, error: bytes) -> None:
        """Leave a pass in which a rule or a hook raised, and report it (A18)."""
        context = self._contexts.get(work.task.pass_id.context)
        if context is not None and context.task is work.task:
            context.task = None
            self._report_fault(work.body, Fault(Cause.RAISED, self._me, error=error))

    # Messages

    def on_counted(self, _: WorkerId, body: CountedBody) -> None:
        """Have a message of a pass processed."""
        task = self._admit(body)
        if task is None:
            return
        if (type(body) is PropagateGradients or type(body) is Mark) and body.forward not in task.sends:
            self._report_fault(body, Fault(Cause.UNPAIRED, self._me, str(body.forward)))
        else:
            self._emit(Work(task, body))

    def on_commit(self, _: WorkerId, commit: Commit) -> None:
        """Let what was kept aside be seen, and leave; answer in any case (A17)."""
        context = self._contexts.get(commit.pass_id.context)
        if context is not None and context.task is not None and context.task.pass_id == commit.pass_id:
            context.task.commit(context.gradients)
            context.task = None
        self._tell(commit.pass_id.root, Committed(commit.pass_id))

    def on_abort(self, _: WorkerId, abort: Abort) -> None:
        """Leave a pass that has failed (A18)."""
        self.leave(abort.pass_id)

    # To engage, and to leave

    def engage(self, context: Context, pass_id: PassId, root: Node | None = None, seeds: Any = ()) -> Task:
        """Begin a task that waits for every send recorded now (A11)."""
        context.newest[pass_id.root] = (pass_id.incarnation, pass_id.number)
        sends = {forward: sent.node for forward, sent in context.sends.items()}
        context.task = Task(pass_id, sends, context.recvs, root, seeds)
        return context.task

    def leave(self, pass_id: PassId) -> None:
        """Drop the task, if it is of this pass (A18)."""
        context = self._contexts.get(pass_id.context)
        if context is not None and context.task is not None and context.task.pass_id == pass_id:
            context.task = None

    def leave_passes_of(self, root: WorkerId) -> None:
        """Leave what a dead root began (A21)."""
        for context in self._contexts.values():
            if context.task is not None and context.task.pass_id.root == root:
                context.task = None

    def _admit(self, body: CountedBody) -> Task | None:
        """Find the task that a message is for, engaging if need be; or refuse the message, or drop it (A10 to A12)."""
        pass_id = body.pass_id
        context = self._contexts.get(pass_id.context)
        if pass_id.root in self._dead:
            return None
        if context is None or not context.is_open:
            self._report_fault(body, self._absence(pass_id.context.created_on))
            return None
        task = context.task
        if task is not None and task.pass_id == pass_id:
            return task
        if (pass_id.incarnation, pass_id.number) <= context.newest.get(pass_id.root, (0, 0)):
            return None
        if task is not None and task.pass_id.root != pass_id.root:
            self._report_fault(body, Fault(Cause.BUSY, self._me, f"it is in a pass of worker {task.pass_id.root}"))
            return None
        return None if type(body) is Seek or type(body) is Resume else self.engage(context, pass_id)

    def _absence(self, creator: WorkerId) -> Fault:
        """Why a context is not open here: it was released, or dropped as its creator died (A21)."""
        return Fault(Cause.DIED, creator) if creator in self._dead else Fault(Cause.RELEASED, self._me)

    def _report_fault(self, body: CountedBody | Begin, fault: Fault) -> None:
        self._tell(body.pass_id.root, Report(body.pass_id, self._name(body), (), None, fault))

    def _name(self, body: CountedBody | Begin) -> Counted:
        return Counted(Kind.BEGIN, self._me) if type(body) is Begin else counted(body, self._me)
