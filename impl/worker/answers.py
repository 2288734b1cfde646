"""What functions and RRefs say to other workers: results, and values that were asked for.

An outcome is written first and sent then, in a step of its own: to write it may run user code, which runs under no lock. What
was so before it was written is asked again in the step that sends it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.effects import AnswerFetch, Effect, Failure, Outcome
from farref.impl.core.ids import CallId, WorkerId
from farref.impl.core.messages import Forks
from farref.impl.errors import RefusedResult, RefusedValue, RpcError
from farref.impl.values.bodies import Written, is_plain
from farref.impl.values.tensors import Passage
from farref.impl.worker.recording import answering, opened

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


class Answer(NamedTuple):
    """An outcome as it was written for a worker: of a call, or the value of an RRef."""

    target: WorkerId
    what: str
    of: object
    passage: Passage | None
    failed: bool
    written: Written


class Answers:
    """Answers for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def reply(
        self, target: WorkerId, call: CallId, outcome: Outcome, function: str, context: ContextId | None, size: int
    ) -> None:
        """Answer a call, which ends with that. Not under the lock."""
        worker = self._worker

        def send(answer: Answer) -> None:
            worker.serving.end(target, size)
            self._send(answer, partial(worker.core.reply, target, call))

        worker.end(send, self._write(outcome, target, context, "the result", function))

    def answer(self, answer: AnswerFetch) -> None:
        """Write a value for one user, or the error that stands in its place (R20)."""
        worker = self._worker
        if worker.lines.must_wait(answer.target):
            worker.serving.answers[answer.target] += 1
            worker.lines.keep(answer.target, partial(self._answer_late, answer))
        elif isinstance(answer.outcome, Failure) or is_plain(answer.outcome.content):
            self._answer_now(answer)
        else:
            worker.serving.answers[answer.target] += 1
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
                worker.bodies.take_back(answer.target, written.written)
            elif worker.lines.must_wait(answer.target):
                worker.lines.keep(answer.target, partial(self._send_value_late, answer, written))
            else:
                self._send(written, partial(worker.core.answer_fetch, answer))

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
            worker.serving.answers[answer.target] -= 1
        if answer.target not in worker.core.dead:
            self._answer_now(answer)
        worker.lines.write_results()

    def _write(self, outcome: Outcome, target: WorkerId, context: ContextId | None, what: str, of: object) -> Answer:
        """Write an outcome for a worker, or the error that stands in its place. It may run user code: not under the lock."""
        worker, passage = self._worker, None
        try:
            if context is not None:
                passage = answering(worker, context, f"{what} of {of}")
            if isinstance(outcome, Failure):
                return Answer(
                    target, what, of, passage, True, ((), worker.bodies.write_error(outcome.content, ""), [], ())
                )
            return Answer(target, what, of, passage, False, worker.bodies.write(outcome.content, target, passage))
        except RefusedValue as error:
            return Answer(target, what, of, passage, True, self._written_error(_of_result(error), what, of))
        except RpcError as error:
            return Answer(target, what, of, passage, True, self._written_error(error, what, of))

    def _written_error(self, error: RpcError, what: str, of: object) -> Written:
        bodies = self._worker.bodies
        bodies.say_what(error, what, of)
        return (), bodies.write_error(error, str(of)), [], ()

    def _send(self, answer: Answer, send: Callable[[bool, Forks, bytes, Passage | None], list[Effect]]) -> None:
        """Send what was written. If its context was released since, the error that says so. Under the lock."""
        worker, failed, passage, written = self._worker, answer.failed, answer.passage, answer.written
        try:
            if passage is not None:
                opened(worker, passage.context)
        except RpcError as error:
            worker.bodies.take_back(answer.target, written)
            failed, passage, written = True, None, self._written_error(error, answer.what, answer.of)
        forks, body, segments, _ = written
        worker.perform(send(failed, forks, body, passage), segments)


def _of_result(error: RefusedValue) -> RefusedResult:
    """Say of a value that could not be written that it is what a function gave: its caller must know that it ran."""
    refused = RefusedResult(*error.args).with_traceback(error.__traceback__)
    refused.__cause__, refused.__suppress_context__ = error.__cause__, True
    return refused
