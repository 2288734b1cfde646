"""Backward passes on one worker: who does a task's work, and who waits for the end of a pass.

The work of a task runs user code, so it is done without the lock, one piece after the other (A5): by a background thread, or at
the root by the caller of `backward` itself. It waits anyway, and waking another thread takes longer than most pieces do.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from farref.impl.core.autograd.effects import PassEnded, Work
from farref.impl.core.autograd.ids import ContextId, PassId
from farref.impl.core.autograd.task import Progress, Task
from farref.impl.errors import RefusedValue
from farref.impl.tape.passes import root_of
from farref.impl.tape.tensors import Tensor
from farref.impl.values.failures import failure_of
from farref.impl.values.gradients import Gradients, GradientWalk
from farref.impl.values.reports import write_error
from farref.impl.worker.futures import Future
from farref.impl.worker.interrupts import Interruptible, uninterrupted
from farref.impl.worker.waiting import Bell

if TYPE_CHECKING:
    from farref.impl.worker.perform import ToPerform
    from farref.impl.worker.worker import Worker

GRADIENT_OTHER_BYTES: Final = 4096
"""More than the rest of a frame that carries gradients takes."""


class Passes:
    """Runs passes and does the work of tasks for one worker. All of it is under the worker's lock, unless it says so."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._works: dict[Task, deque[Work]] = {}
        self._attended: dict[Task, Bell] = {}
        """The tasks that a caller of `backward` attends to, with the bell that wakes it."""
        self.waiting: dict[PassId, Future] = {}
        """The passes that were begun here and have not ended, with what tells that they have."""

    @property
    def works(self) -> int:
        """The number of tasks that have work to be done."""
        return len(self._works)

    def run(
        self, context: ContextId, roots: list[Tensor], seeds: Gradients, smart: bool, retain: bool, deadline: float
    ) -> None:
        """Run a pass to its end, doing the work of its root. Not under the lock."""
        worker = self._worker
        future = Future(worker.reactor, "backward")
        root = root_of(roots)
        with uninterrupted:
            with worker.lock:
                pass_id, effects = worker.core.engine.begin(context, root, seeds, smart, retain)
                self.waiting[pass_id] = future
                (work,) = (effect for effect in effects if isinstance(effect, Work))
                bell = self._attended[work.task] = Bell()
                future.call_when_done(bell)
                worker.perform(effects)
            try:
                self._attend(work.task, future, deadline, lambda: bell)
            finally:
                self._leave(work.task, pass_id, future)
        future.wait()

    def _attend(self, task: Task, future: Future, deadline: float, bell: Callable[[], Bell]) -> None:
        """Do a task's work as it comes, until its pass has ended or it is too late."""

        def has_news() -> bool:
            return task in works or future.done()

        works = self._works
        while not future.done() and time.monotonic() < deadline and not self._worker.closed:
            uninterrupted.heed()
            if task in works:
                self._do(task)
            self._worker.reactor.serve_until(has_news, deadline, bell)

    def _leave(self, task: Task, pass_id: PassId, future: Future) -> None:
        """Let a pass fail that has not ended, unless it is decided (A20); leave what work there is to others."""
        worker = self._worker
        with worker.lock:
            del self._attended[task]
            if task in self._works:
                worker.reactor.queue(lambda: self._do(task))
            if future.done():
                return
            worker.perform(worker.core.engine.time_out(pass_id))
        worker.flush()

    def have_done(self, work: Work) -> None:
        """Have a piece of work done, after what its task has to do before."""
        works = self._works.get(work.task)
        if works is None:
            self._works[work.task] = deque((work,))
            self._have_done(work.task)
        else:
            works.append(work)

    def end(self, ended: PassEnded) -> None:
        """Let whoever waits for a pass of ours know how it ended."""
        future = self.waiting.pop(ended.pass_id, None)
        if future is not None and ended.fault is None:
            future.offer_result(None)
        elif future is not None:
            future.offer_exception(failure_of(ended, self._worker.names))

    def _have_done(self, task: Task) -> None:
        """Have the next piece of a task's work done, by whoever attends to it or by some thread."""
        bell = self._attended.get(task)
        if bell is None:
            self._worker.begin(partial(self._do, task))
            return
        self._worker.running += 1
        bell.ring()

    def _do(self, task: Task) -> None:
        """Do the oldest piece of a task's work, and take the step that its end is. Not under the lock."""
        worker, work = self._worker, self._works[task][0]
        interrupt: KeyboardInterrupt | None = None
        try:
            with Interruptible():
                progress = task.process(work.body, GradientWalk)
            outcome: Progress | bytes = self._checked(progress)
        except BaseException as error:
            interrupt = error if isinstance(error, KeyboardInterrupt) else None
            outcome = write_error(error, worker.names[worker.rank], "backward")
        worker.end(self._done, work, outcome)
        worker.lines.write_results(worker.lines.has_few_to_write())
        if interrupt is not None:
            raise interrupt

    def _checked(self, progress: Progress) -> Progress:
        limit = self._worker.settings.frame_bytes_max - GRADIENT_OTHER_BYTES
        for _, written in progress.gradients:
            if len(written) > limit:
                raise RefusedValue(f"the gradients of one call take more than the limit of {limit} bytes")
        return progress

    def _done(self, work: Work, outcome: Progress | bytes) -> ToPerform:
        worker, works = self._worker, self._works[work.task]
        works.popleft()
        if works:
            self._have_done(work.task)
        else:
            del self._works[work.task]
        if isinstance(outcome, bytes):
            return worker.core.engine.raised(work, outcome), None
        return worker.core.engine.worked(work, outcome), None
