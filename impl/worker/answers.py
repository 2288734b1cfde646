"""What functions and RRefs say to other workers: results, and values that were asked for.

An outcome is written first and sent then, in a step of its own: to write it may run user code, which runs under no lock. What
was so before it was written is asked again in the step that sends it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.effects import AnswerFetch, Failure, Outcome
from farref.impl.core.ids import CallId, WorkerId
from farref.impl.errors import RefusedResult, RefusedValue, RpcError
from farref.impl.values.bodies import Written, is_plain
from farref.impl.values.telling import in_short
from farref.impl.values.tensors import Passage
from farref.impl.worker.recording import answering, opened

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


Answer = tuple[bool, Passage | None, Written]
"""An outcome as it was written for a worker: whether it is an error, what goes with it, and the bytes."""


class Answers:
    """Answers for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def reply(
        self, target: WorkerId, call: CallId, function: str, context: ContextId | None, size: int, outcome: Outcome
    ) -> None:
        """Answer a call, which ends with that. Not under the lock."""
        worker, answer = self._worker, self._write(outcome, target, context, "the result", function)
        with worker.lock:
            worker.running -= 1
            worker.core.here.loads[target].end(size)
            failed, passage, written = answer
            if passage is not None:
                failed, passage, written = self._as_it_is_now(answer, target, "the result", function)
            worker.perform(worker.core.reply(target, call, failed, written[0], written[1], passage), written[2])
        if worker.lines.to_self:
            worker.lines.deliver()

    def answer(self, answer: AnswerFetch) -> None:
        """Write a value for one user, or the error that stands in its place (R20)."""
        worker = self._worker
        if worker.lines.must_wait(answer.target):
            worker.core.here.loads[answer.target].add(0)
            worker.lines.keep(answer.target, partial(self._answer_late, answer))
        elif isinstance(answer.outcome, Failure) or is_plain(answer.outcome.content):
            self._answer_now(answer)
        else:
            worker.core.here.loads[answer.target].add(0)
            worker.reactor.queue(partial(self._answer_late, answer))

    def _answer_now(self, answer: AnswerFetch) -> None:
        worker = self._worker
        with worker.lock:
            context = worker.core.engine.fetching.pop((answer.target, answer.fetch), None)
        written = self._write(answer.outcome, answer.target, context, "the value", answer.rref)
        self._send_value(answer, written)

    def _send_value(self, answer: AnswerFetch, written: Answer) -> None:
        """Send a value that was written, or keep it: others that were written meanwhile may have filled the queue."""
        worker = self._worker
        with worker.lock:
            if answer.target in worker.core.dead:
                worker.bodies.take_back(answer.target, written[2])
            elif worker.lines.must_wait(answer.target):
                worker.lines.keep(answer.target, partial(self._send_value_late, answer, written))
            else:
                written = self._as_it_is_now(written, answer.target, "the value", answer.rref)
                failed, passage, (forks, body, segments, _) = written
                worker.perform(worker.core.answer_fetch(answer, failed, forks, body, passage), segments)

    def _send_value_late(self, answer: AnswerFetch, written: Answer) -> None:
        self._send_value(answer, written)
        self._worker.lines.write_results()

    def _answer_late(self, answer: AnswerFetch) -> None:
        """Answer a fetch with a value that may run user code as it is written; or of a worker that takes something in again."""
        worker = self._worker
        if worker.lines.must_wait(answer.target):
            worker.lines.keep(answer.target, partial(self._answer_late, answer))
            return
        with worker.lock:
            worker.core.here.loads[answer.target].end(0)
        if answer.target not in worker.core.dead:
            self._answer_now(answer)
        worker.lines.write_results()

    def _write(self, outcome: Outcome, target: WorkerId, context: ContextId | None, what: str, of: object) -> Answer:
        """Write an outcome for a worker, or the error that stands in its place. It may run user code: not under the lock."""
        worker, passage = self._worker, None
        try:
            if context is not None:
                passage = answering(worker, context, f"{what} of {of}")
            if type(outcome) is Failure:
                return True, passage, ((), worker.bodies.write_error(outcome.content, ""), [], ())
            return False, passage, worker.bodies.write(outcome.content, target, passage)
        except RefusedValue as error:
            return True, passage, self._written_error(_of_result(error), what, of)
        except RpcError as error:
            return True, passage, self._written_error(error, what, of)
        except BaseException as error:  # code of the application that was asked for the value
            return True, passage, self._written_error(RefusedResult(in_short(error)), what, of)

    def _written_error(self, error: RpcError, what: str, of: object) -> Written:
        bodies = self._worker.bodies
        bodies.say_what(error, what, of)
        return (), bodies.write_error(error, str(of)), [], ()

    def _as_it_is_now(self, answer: Answer, target: WorkerId, what: str, of: object) -> Answer:
        """Say what to send: what was written or, if its context was released since, the error for that. Under the lock."""
        _, passage, written = answer
        if passage is not None:
            try:
                opened(self._worker, passage.context)
            except RpcError as error:
                self._worker.bodies.take_back(target, written)
                return True, None, self._written_error(error, what, of)
        return answer


def _of_result(error: RefusedValue) -> RefusedResult:
    """Say of a value that could not be written that it is what a function gave: its caller must know that it ran."""
    refused = RefusedResult(*error.args).with_traceback(error.__traceback__)
    refused.__cause__, refused.__suppress_context__ = error.__cause__, True
    return refused
