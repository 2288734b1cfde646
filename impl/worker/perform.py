"""What a worker does with the effects of its core, and how it runs functions.

Everything in `perform` happens under the worker's lock and neither blocks nor runs user code. Functions run without it. So do
the writing of what they return, and the end of a value that nobody can name.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, assert_never, cast

import numpy as np

from farref.impl.core.autograd.effects import PassEnded, TakeForDead, Work
from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.effects import (
    AnswerFetch,
    CompleteCall,
    CompleteFetch,
    Confirmed,
    DropValue,
    Effect,
    FailCall,
    Failure,
    Fenced,
    Joined,
    KeepAuthority,
    Lost,
    MembersEffect,
    Outcome,
    ReplyLost,
    RunCall,
    RunCreation,
    Send,
    Suspected,
    Value,
    WakeWaiter,
)
from farref.impl.core.ids import Reference, RRefId, WorkerId
from farref.impl.core.messages import BODIED
from farref.impl.errors import LimitReached, RefusedResult, RpcError, refusal
from farref.impl.limits import reached
from farref.impl.rref import RRef
from farref.impl.user_code import entering
from farref.impl.values.content import Content
from farref.impl.values.tensors import Passage
from farref.impl.worker.connection import NOW
from farref.impl.worker.futures import Future
from farref.impl.worker.recording import to_self, using

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


QUICK_S: Final = 0.001
UNFINALIZED: Final = (type(None), bool, int, float, str, bytes, np.ndarray)
"""What runs no code of the application when it ends."""


ToPerform = tuple[list[Effect], list[memoryview] | None]
"""What a step asks for: its effects, and the segments of the one carrier among them."""


class Performer:
    """Performs effects for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        worker.core.here.let_end = self.let_end
        self._threads_max = worker.settings.limits.threads_max
        self._quick: set[str] = set()
        """The functions that took no time to speak of when they ran last."""
        self.running: dict[int, tuple[str, float]] = {}
        """The functions that run now, by thread: a thread that waits runs no other. Each with the time it began at."""

    def perform(self, effects: list[Effect], segments: list[memoryview] | None = None) -> None:
        """Do what a step asks for, in its order; then let go of what was dropped meanwhile, which is a step for each.

        Segments belong to the one carrier among the effects.
        """
        worker = self._worker
        while True:
            for effect in effects:
                if type(effect) is Send:
                    message = effect.message
                    carried = segments if segments and isinstance(message, BODIED) else None
                    worker.post(effect.target, message, carried)
                elif type(effect) is RunCall:
                    if effect.call.function not in self._quick:
                        self._hurry(effect.source)
                    worker.begin(partial(self._run_call, effect, worker.serving.begin(effect)))
                elif type(effect) is CompleteCall:
                    pending = worker.calls.pop(effect.call, None)
                    self._settle(pending and pending[0], effect.failed, self._bound(effect.content, effect.references))
                elif type(effect) is Work:
                    worker.passes.have_done(effect)
                elif type(effect) is CompleteFetch:
                    asked = worker.fetches.pop(effect.fetch, None)
                    self._settle(asked and asked[0], effect.failed, self._bound(effect.content, effect.references))
                elif type(effect) is RunCreation:
                    if effect.creation.function not in self._quick:
                        self._hurry(effect.source)
                    worker.begin(partial(self._run_creation, effect, worker.serving.begin(effect)))
                elif type(effect) is AnswerFetch:
                    worker.answers.answer(effect)
                elif type(effect) is Confirmed:
                    worker.creations.pop(effect.fork, None)
                elif type(effect) is DropValue:
                    self._let_end(effect.outcome)
                else:
                    self._perform_rare(effect)
            if not worker.dropped:
                return
            reference, segments = worker.dropped.popleft(), None
            effects = [] if worker.released else worker.core.let_go(reference)

    def _perform_rare(
        self, effect: FailCall | ReplyLost | WakeWaiter | PassEnded | TakeForDead | MembersEffect
    ) -> None:
        worker = self._worker
        match effect:
            case FailCall(call, target, reason, ran):
                refused = worker.calls.pop(call, None)
                if refused is not None:
                    message = f"{refused[2]} on {worker.names[target]} was refused: {reason}"
                    error = RefusedResult(f"the result of {message}") if ran else refusal(reason, message)
                    refused[0].offer_exception(error)
            case ReplyLost(target, call, reason):
                if target not in worker.core.dead:
                    body = worker.bodies.write_error(refusal(reason), "")
                    self.perform(worker.core.reply(target, call, True, (), body))
            case WakeWaiter(waiter, outcome):
                waiting = worker.waiters.pop(waiter, None)
                self._settle(waiting and waiting[0], isinstance(outcome, Failure), outcome.content)
            case PassEnded():
                worker.passes.end(effect)
            case TakeForDead(peer):
                worker.declare_dead(peer, "another worker has declared it dead")
            case Lost() | Joined() | Fenced() | Suspected() | KeepAuthority():
                worker.membership.perform(effect)
            case _:
                assert_never(effect)

    def _let_end(self, outcome: Outcome | None) -> None:
        """Let a value end outside of the lock: what finalizes it may be user code, which may call and wait."""
        if outcome is not None and not any(type(outcome.content) is kind for kind in UNFINALIZED):
            self.let_end(outcome.content)

    def let_end(self, value: object) -> None:
        """Let something end outside of the lock that the application may finalize."""
        self._worker.reactor.queue(partial(self._end, value))

    def _end(self, _value: object) -> None:
        # When the lock is free, the step that dropped the value is over, and the task that has it is the last who does.
        with self._worker.lock:
            pass
        entering("the end of a value")

    def _bound(self, content: object, references: tuple[Reference, ...]) -> Any:
        return content.bind(self._worker, references) if type(content) is Content else content

    # Functions

    def _hurry(self, source: WorkerId) -> None:
        """Let nothing that is queued for a caller wait for a function that may take long (R10, R18)."""
        connection = self._worker.connections.get(source)
        if connection is not None:
            connection.hurry = NOW

    def _run_call(self, run: RunCall, size: int) -> None:
        source, call, function, context = run.source, run.call.call, run.call.function, _context(run.content)
        if self._worker.lines.must_wait(source):
            self._worker.lines.keep(source, partial(self._run_call, run, size))
            return
        # Nothing here may keep the result: if it is a view of the caller's memory, that is returned in the same write.
        self._when_done(
            self._invoke(function, self._bound(run.content, run.references), context),
            function,
            partial(self._worker.answers.reply, source, call, function, context, size),
        )
        self._worker.lines.write_results()

    def _run_creation(self, run: RunCreation, size: int) -> None:
        arguments = self._bound(run.content, run.references)
        creation, context = run.creation, _context(run.content)
        del run  # which has what came with the call
        self._run_creation_of(creation.rref, creation.function, arguments, context, size)

    def create_on_self(self, function: str, given: list[Any], passage: Passage | None) -> RRef:
        """Compute the value of an RRef here. Its arguments travel as in any call, so that they are copies as in any call.

        Not under the lock.
        """
        worker = self._worker
        try:
            arguments, received = worker.bodies.copy(given, passage)
        except RpcError as error:
            worker.bodies.say_what(error, "an argument", function)
            raise
        with worker.lock:
            context = to_self(worker, passage, received)
            reference = worker.core.create_on_self()
            worker.begin(lambda: self._run_creation_of(reference.rref, function, arguments, context))
        return RRef.unbound().adopt(worker, reference)

    def _run_creation_of(
        self, rref: RRefId, function: str, arguments: Any, context: ContextId | None, size: int | None = None
    ) -> None:
        """Compute the value of an RRef, and make its entry ready (R23)."""
        self._when_done(
            self._invoke(function, arguments, context),
            function,
            lambda final: self._worker.end(self._finish, rref, size, final),
        )
        self._worker.lines.write_results()

    def _invoke(self, function: str, arguments: Any, context: ContextId | None) -> Outcome:
        """Run a function. Its error is kept as text: an exception would keep its frames, and the references in them."""
        entering(function)
        worker, thread, began = self._worker, threading.get_ident(), time.monotonic()
        args, kwargs = arguments
        self.running[thread] = (function, began)
        try:
            if len(self.running) > self._threads_max:
                raise self._too_many()
            target = worker.functions.resolve(function)
            if context is None:
                return Value(target(*args, **kwargs))
            with using(context):
                return Value(target(*args, **kwargs))
        except BaseException as error:
            return Failure(worker.bodies.write_error(error, function))
        finally:
            del self.running[thread]
            if (time.monotonic() - began < QUICK_S) != (function in self._quick):
                self._learn(function)
            # What the function was given and did not keep is let go of now, so that the deletes leave with its result.
            args.clear()
            kwargs.clear()

    def _too_many(self) -> LimitReached:
        """Say why no function more runs than there may be threads for: the others may wait for each other."""
        here = self._worker.names[self._worker.rank]
        return LimitReached(reached(f"so many functions run on {here}", "threads_max", self._threads_max))

    def _learn(self, function: str) -> None:
        """Note that a function was quick this time and not the last, or the other way round."""
        if function in self._quick:
            self._quick.discard(function)
        elif self._worker.functions.is_known(function):
            self._quick.add(function)

    def _when_done(self, outcome: Outcome, function: str, then: Callable[[Outcome], None]) -> None:
        """Go on with an outcome; if it is a future, when that is done. No thread waits for it."""
        if not issubclass(type(outcome.content), Future):  # a value of the application is not asked for its class
            then(outcome)
            return
        future = cast("Future", outcome.content)

        def go_on() -> None:
            try:
                final: Outcome = Value(future.value())
            except BaseException as error:
                final = Failure(self._worker.bodies.write_error(error, function))
            then(final)
            self._worker.lines.write_results()

        future.call_when_done(lambda: self._worker.reactor.start(go_on))

    def _finish(self, rref: RRefId, size: int | None, outcome: Outcome) -> ToPerform:
        if size is not None:
            self._worker.core.here.loads[rref.created_on].end(size)
        return self._worker.core.finish_function(rref, outcome), None

    def _settle(self, future: Future | None, failed: bool, value: Any) -> None:
        """Complete a future, if anybody still wants it; a value nobody wants goes, with the handles in it."""
        if future is None:
            return
        if failed:
            future.set_report(self._worker.bodies.write_error(value, ""))
        else:
            future.offer_result(value)


def _context(content: object) -> ContextId | None:
    """The context that a call came with."""
    return content.context if type(content) is Content else None
