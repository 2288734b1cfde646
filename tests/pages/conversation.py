"""Two workers from their handshake to the end, as bytes and as logs. The cores are those of the implementation.

A (rank 0) creates x on B (rank 1), fetches it, passes it to B twice, gets y from B, lets go of both; then both leave. What the
shells of real workers do is done by hand: functions are run, frames are carried in their order, and the steps of R32 are told.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any, Final

from farref.impl.core.effects import AnswerFetch, CompleteCall, Effect, RunCall, RunCreation, Send, Value
from farref.impl.core.ids import Incarnation, OwnedReference, Reference, WorkerId
from farref.impl.core.journal import Journal, LoggedCore
from farref.impl.core.messages import AnyMessage
from farref.impl.transport.frames import Frame, Reached
from farref.impl.transport.handshake import ACCEPTS, CONNECTS, Identity, hello, proof
from farref.impl.values.tensors import TensorWriter

A, B = WorkerId(0), WorkerId(1)
NAMES: Final = {A: "A", B: "B"}
LIVES: Final = {A: Incarnation(6), B: Incarnation(5)}
KEY: Final = bytes(range(32))
REFERENCE: Final = object()


@dataclass(frozen=True)
class Said:
    """One thing on the wire: what it is for, who sent it, and the message, or the bytes that come before any message."""

    why: str
    source: WorkerId
    message: Frame | bytes


class Conversation:
    """Two workers that say everything there is to say."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self.logs = {rank: io.BytesIO() for rank in NAMES}
        ticks = count(1)
        self.cores = {
            rank: LoggedCore(rank, NAMES, LIVES[rank], Journal(log.write, lambda: None, lambda: float(next(ticks))))
            for rank, log in self.logs.items()
        }
        self.kept: list[Reference] = []
        self._queue: deque[tuple[WorkerId, AnyMessage]] = deque()
        self._why = ""

    def meet(self) -> None:
        """Shake hands, and decline to share memory."""
        identities = {rank: Identity(rank, LIVES[rank], bytes(16), KEY) for rank in NAMES}
        theirs, ours = hello(identities[B], b"\xaa" * 32), hello(identities[A], b"\xbb" * 32)
        self.said += [Said("the handshake", B, theirs), Said("the handshake", A, ours)]
        self.said += [Said("the handshake", B, proof(KEY, CONNECTS, theirs, ours))]
        self.said += [Said("the handshake", A, proof(KEY, ACCEPTS, ours, theirs))]
        self.said += [Said("shared memory is declined", rank, b"\0") for rank in (A, B)]

    def talk(self) -> None:
        """Let A do what it wants of B."""
        a = self.cores[A]
        x, effects = a.create_remote(B, "m:make", (), written([[21], {}]))
        self._do('A creates x on B: `remote("B", make, 21)` (R10)', A, effects)
        self._do("A fetches x (R20)", A, a.fetch(x)[1])
        for often in ("", " again"):
            forks = (a.share(x, B),)
            self._do(f"A passes x to a function on B that keeps it{often} (R19)", A, self._call("m:keep", forks))
        self._do("A calls a function on B that makes y and gives it back (R14, R15)", A, self._call("m:give"))
        self._do("A lets go of x: B still keeps it (R26)", A, a.let_go(x))
        self._do("A lets go of y: the value is dropped (R22)", A, a.let_go(self.kept[-1]))

    def leave(self) -> None:
        """Leave in the steps of R32."""
        for step in (1, 2):
            self.said += [Said(f"step {step} of leaving (R32)", rank, Reached(step)) for rank in NAMES]
        for rank, core in self.cores.items():
            core.shut_down()
            self._do("B drops the handles that it kept", rank, core.let_go_of_everything())
        self.said += [Said("step 4 of leaving: all tables are empty", rank, Reached(4)) for rank in NAMES]
        for core in self.cores.values():
            assert core.is_empty()
            core.end()

    def _call(self, function: str, forks: tuple[Any, ...] = ()) -> list[Effect]:
        return self.cores[A].call(B, function, forks, written([[REFERENCE] * len(forks), {}]))[1]

    def _do(self, why: str, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step asks for, and everything that follows from it."""
        self._why = why
        self._perform(worker, effects)
        while self._queue:
            target, message = self._queue.popleft()
            self._perform(target, self.cores[target].receive(other(target), message))

    def _perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        core = self.cores[worker]
        for effect in effects:
            match effect:
                case Send(target, message):
                    self.said.append(Said(self._why, worker, message))
                    self._queue.append((target, message))
                case RunCreation(_, creation):
                    self._perform(worker, core.finish_function(creation.rref, Value(42)))
                case RunCall(source, call, references):
                    self._run(worker, source, call.call, references)
                case AnswerFetch():
                    self._perform(worker, core.answer_fetch(effect, False, (), written(42)))
                case CompleteCall(references=references):
                    self.kept += references
                case _:
                    pass

    def _run(self, worker: WorkerId, source: WorkerId, call: Any, references: Sequence[Reference]) -> None:
        """Run a function: one that is given something keeps it, any other makes an RRef and gives it back."""
        core = self.cores[worker]
        if references:
            self.kept += references
            self._perform(worker, core.reply(source, call, False, (), written(None)))
            return
        made: OwnedReference = core.create_local(Value("y"))
        forks = (core.share(made, source),)
        self._perform(worker, core.reply(source, call, False, forks, written(REFERENCE)))
        self._perform(worker, core.let_go(made))


def other(worker: WorkerId) -> WorkerId:
    """Name the other worker."""
    return B if worker == A else A


def written(value: object) -> bytes:
    """Write a value; its only reference is the first fork of its message."""
    return TensorWriter(lambda item: 0 if item is REFERENCE else None).write(value)


@cache
def conversation() -> Conversation:
    """Hold the conversation."""
    held = Conversation()
    held.meet()
    held.talk()
    held.leave()
    return held
