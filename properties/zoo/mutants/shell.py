"""Mistakes of the shell: the core is right, and what stands around it is not. Only real processes have a shell."""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.effects import DropValue, Failure, Value, WakeWaiter
from farref.impl.core.messages import Ack, ChildAccept, Control
from farref.impl.transport.frames import Acks, read_body
from farref.impl.worker.answers import Answers
from farref.impl.worker.arrivals import Arrivals
from farref.impl.worker.perform import Performer
from farref.impl.worker.worker import Worker
from farref.properties.zoo.creature import PROCESSES
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref", PROCESSES)


@MUTANTS.enter("R6", Worker, "post")
def a_control_message_is_not_written(original: Handler) -> Handler:
    """The shell says that it has sent a message to a parent, and forgets to write it."""

    def post(self: Worker, target: Any, message: Any, segments: Any) -> None:
        if not (isinstance(message, Control) and isinstance(message.body, ChildAccept)):
            original(self, target, message, segments)

    return post


@MUTANTS.enter("R7", Worker, "post")
def a_control_message_is_written_twice(original: Handler) -> Handler:
    """The shell writes a control message twice and says so once."""

    def post(self: Worker, target: Any, message: Any, segments: Any) -> None:
        original(self, target, message, segments)
        if isinstance(message, Control):
            original(self, target, message, segments)

    return post


@MUTANTS.enter("R5", Arrivals, "take")
def an_answer_is_not_read(original: Handler) -> Handler:
    """Answers that come in a frame of their own are thrown away."""

    def take(self: Arrivals, source: Any, body: Any, segments: Any) -> None:
        if not isinstance(read_body(body), Acks | Ack):
            original(self, source, body, segments)

    return take


@MUTANTS.enter("R23", Performer, "_finish", "R10.raises")
def an_error_is_kept_as_a_value(original: Handler) -> Handler:
    """A function that ended with an error makes its entry ready with that error as its value."""

    def finish(self: Performer, rref: Any, size: Any, outcome: Any) -> Any:
        return original(self, rref, size, Value(None) if isinstance(outcome, Failure) else outcome)

    return finish


@MUTANTS.enter("R21", Performer, "_perform_rare", "R21.argument")
def a_waiter_is_not_woken(original: Handler) -> Handler:
    """The core says that code here is to be woken, and the shell does not."""
    return lambda self, effect: None if isinstance(effect, WakeWaiter) else original(self, effect)


@MUTANTS.enter("R20", Answers, "answer", "R10.raises")
def a_fetch_is_not_answered(original: Handler) -> Handler:
    """The core says that a fetch is to be answered, and the shell drops every error that it should answer with."""
    return lambda self, answer: None if isinstance(answer.outcome, Failure) else original(self, answer)


@MUTANTS.enter("R22", Performer, "perform")
def a_dropped_handle_is_forgotten(original: Handler) -> Handler:
    """What the application let go of while a step was carried out is forgotten, and stays counted."""

    def perform(self: Performer, effects: Any, segments: Any = None) -> None:
        self._worker.dropped.clear()
        original(self, effects, segments)

    return perform


@MUTANTS.enter("R23", Performer, "_settle", "R4.raises")
def a_result_goes_to_nobody(original: Handler) -> Handler:
    """A caller whose call failed is not told."""
    return lambda self, future, failed, value: None if failed else original(self, future, failed, value)


@MUTANTS.enter("R22", Performer, "perform")
def a_value_is_not_let_go_of(original: Handler) -> Handler:
    """The core drops an entry, and the shell keeps its value for ever."""
    kept: list[object] = []

    def perform(self: Performer, effects: Any, segments: Any = None) -> None:
        kept.extend(one.outcome for one in effects if isinstance(one, DropValue))
        original(self, effects, segments)

    return perform
