"""A core to which nothing about references arrives by itself.

It stands in a real worker, behind real streams and threads. Whatever the worker reads is kept here until the driver says that
it arrives, arrives and stays, is refused or is lost. Nothing is sent again by the clock. Calls and results that carry no
reference are none of the protocol's business and go through.

Every step is written down as the effects it had, without what user code wrote, so that they can be told elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import msgspec

from farref.impl.core.autograd.effects import Work
from farref.impl.core.core import Core
from farref.impl.core.effects import (
    AnswerFetch,
    CompleteCall,
    CompleteFetch,
    Effect,
    RunCall,
    RunCreation,
    Send,
    Value,
    WakeWaiter,
)
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.messages import AnyMessage, Call, CallFailed, Return
from farref.properties.twin.backends.patience import is_exhausted, patience

PATIENCE_S: Final = 10.0
PAUSE_S: Final = 0.0002


@dataclass(frozen=True, slots=True)
class Held:
    """A message that was read and has not arrived yet."""

    source: WorkerId
    message: AnyMessage
    content: object


class HeldCore(Core):
    """A core whose messages wait for somebody to let them in."""

    def __init__(self, me: WorkerId, workers: Collection[WorkerId], incarnation: Incarnation) -> None:
        super().__init__(me, workers, incarnation)
        self.held: list[Held] = []
        self.came: list[tuple[WorkerId, AnyMessage]] = []
        """All that was read in this life, in its order."""
        self.met: dict[WorkerId, Incarnation] = {}
        """The lives that peers were in as they met."""
        self.effects: list[Effect] = []
        self._arrived = threading.Condition()

    def begin_anew(self) -> None:
        """Begin the next life, with empty tables. Calls are counted on: an answer to an old one must not fit a new one.

        What peers have shown as they met is no longer what their messages say; streams that break still ask for it (`met`).
        """
        called = self.called
        self.met = self.met or self.here.lives
        Core.__init__(self, self.me, self.workers, Incarnation(self.incarnation + 1))
        self.called, self.held, self.came, self.effects = called, [], [], []

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Keep a message, unless it is about no reference."""
        if not is_about_references(message):
            return super().receive(source, message, content)
        with self._arrived:
            self.held.append(Held(source, message, content))
            self.came.append((source, message))
            self._arrived.notify_all()
        return []

    def tick(self, now: float) -> list[Effect]:  # noqa: ARG002
        """Do nothing: here time passes only where somebody says so."""
        return []

    def await_message(self, source: WorkerId, message: AnyMessage) -> Held:
        """Wait until a message has been read, which its sender has written. Copies that are equal are alike."""
        deadline = time.monotonic() + patience(PATIENCE_S)
        with self._arrived:
            while (found := self._find(source, message)) is None:
                if not self._arrived.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"{message} from worker {source} was sent, and never came")
            return found

    def let_in(self, held: Held) -> list[Effect]:
        """Let a message arrive, of whatever life, and about any: for a stream workers show the lives in which they met."""
        shown, self.here.lives = self.here.lives, {}
        try:
            return super().receive(held.source, held.message, held.content)
        finally:
            self.here.lives = shown

    def _find(self, source: WorkerId, message: AnyMessage) -> Held | None:
        return next((one for one in self.held if one.source == source and one.message == message), None)

    def taken(self) -> list[Effect]:
        """End a step, and write down what it has done."""
        effects = super().taken()
        self.effects += [bare(effect) for effect in effects if _is_told(effect)]
        return effects


def is_about_references(message: AnyMessage) -> bool:
    """Say whether the protocol has a word to say about a message."""
    return not isinstance(message, Call | Return | CallFailed) or bool(message.forks)


def _is_told(effect: Effect) -> bool:
    match effect:
        case Send(_, message):
            return is_about_references(message) or isinstance(message, CallFailed)
        case RunCall(call=call):
            return is_about_references(call)
        case Work():
            return False  # it is done here, and what comes of it is told
        case _:
            return True


def bare(effect: Effect) -> Effect:
    """Give an effect without what user code wrote."""
    match effect:
        case RunCall() | RunCreation() | CompleteCall() | CompleteFetch():
            return msgspec.structs.replace(effect, content=None)
        case AnswerFetch() | WakeWaiter():
            return msgspec.structs.replace(effect, outcome=Value(None))
        case _:
            return effect


def wait_until(done: Callable[[], bool], complaint: str) -> None:
    """Wait until something holds, that takes no time on an idle machine."""
    begin = time.monotonic()
    while not done():
        if is_exhausted(begin, PATIENCE_S):
            raise TimeoutError(complaint)
        time.sleep(PAUSE_S)
