"""Which calls are recorded, and in which context (A4, A7, A8, A28).

The current context belongs to the code that runs, not to the thread (A28): it is a context variable. A function that was
called runs with the context that its call carried. Whether a tensor is part of a pair is decided here, before it is written,
and only for calls of the application by its thread's grad mode: results and fetched values are written by whatever thread
has them, and that thread's mode says nothing about them (A7).

All functions here that look at a context take the worker's lock.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from farref.impl.core.autograd.ids import WORD, ContextId
from farref.impl.core.autograd.tables import Context
from farref.impl.errors import ContextReleased
from farref.impl.tape.mode import is_grad_enabled
from farref.impl.tape.tensors import Tensor
from farref.impl.values.tensors import Passage, attach

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

CURRENT: Final[ContextVar[ContextId | None]] = ContextVar("farref_autograd_context", default=None)


class using:  # noqa: N801 (a verb, for `with`; a generator in its place would take twice as long for every call)
    """Let code run in a context, or in none."""

    __slots__ = ("_context", "_token")

    def __init__(self, context: ContextId | None) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._token = CURRENT.set(self._context)

    def __exit__(self, *_error: object) -> None:
        CURRENT.reset(self._token)


def as_context(given: object) -> ContextId:
    """Take what an application gave as a context: what `context()` gave it, or the integer of that."""
    if isinstance(given, ContextId):
        return given
    if isinstance(given, int) and given >= WORD:
        return ContextId.of(given)
    raise TypeError(f"a context is what `with autograd.context() as context` gives, and not {given!r}")


def opened(worker: Worker, context: ContextId) -> Context:
    """Find a context that is open here, or say in words for an application that it is not."""
    try:
        with worker.lock:
            return worker.core.engine.opened(context)
    except ContextReleased:
        here = worker.names[worker.rank]
        raise ContextReleased(f"{context.told} is not open on {here}: it was released, or never came here") from None


def leaving(worker: Worker, context: ContextId, function: str) -> Passage:
    """Begin a call of the application in its current context."""
    opened(worker, context)
    return Passage(context, function, is_grad_enabled(), ())


def answering(worker: Worker, context: ContextId, what: str) -> Passage:
    """Begin an answer to a call that carried a context."""
    opened(worker, context)
    return Passage(context, what, True, ())


def to_self(worker: Worker, passage: Passage | None, received: list[Tensor]) -> ContextId | None:
    """Record both ends of a call that stays here without a message (A8). Under the lock."""
    if passage is None:
        return None
    worker.core.engine.call_here(passage, attach(received))
    return passage.context
