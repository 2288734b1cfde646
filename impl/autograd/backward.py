"""Contexts and passes, as an application sees them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from farref.impl.core.autograd.ids import ContextId
from farref.impl.errors import ContextReleased, PassRefused
from farref.impl.functions import function
from farref.impl.rref import RRef
from farref.impl.spelling import also_called
from farref.impl.tape.tensors import Tensor
from farref.impl.user_code import entering
from farref.impl.worker.interrupts import uninterrupted
from farref.impl.worker.process import current
from farref.impl.worker.recording import CURRENT, as_context, opened, using

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


@contextmanager
def context() -> Iterator[ContextId]:
    """Record what the block sends and receives under one id, until the block ends (A8, A24).

    A context belongs to the thread that opened it: it is a context variable (A28). A call that another thread makes while
    the block lasts is not recorded, unless that thread runs it with the `run` of a `contextvars.copy_context()` made in
    the block. A tensor that is received outside any context is a new leaf: no pass goes beyond it.
    """
    worker = current()
    if (nested := CURRENT.get()) is not None:
        raise PassRefused(f"{nested.told} is current here already; contexts do not nest")
    made: ContextId | None = None
    try:
        with uninterrupted, worker.lock:
            made = worker.core.engine.open_context()
        with using(made):
            yield made
    finally:
        if made is not None:
            _release(worker, made)


def _release(worker: Worker, context: ContextId) -> None:
    """Release a context. What was recorded in it ends on this thread, which is the application's: nobody is woken for it."""
    recorded: list[object] = []
    # A worker that leaves has released all its contexts already.
    with uninterrupted, suppress(ContextReleased), worker.lock:
        # Nobody waits for a release: what it sends rides with the next frame, or leaves with a tick.
        worker.perform(worker.core.engine.release(context, recorded.append))
    entering("the end of what was recorded")


@also_called(context="context_id")
def backward(
    context_id: ContextId | int,
    roots: Sequence[Tensor],
    retain_graph: bool = False,
    mode: str = "smart",
    timeout: float | None = None,
) -> None:
    """Give every parameter that some tensors depend on its gradient, wherever it is; see `get_gradients` (A10, A26).

    `timeout` is in seconds; none or -1 means that of all calls, 0 means for ever.
    """
    worker = current()
    if mode not in ("smart", "fast"):
        raise PassRefused(f"there is no mode {mode!r}: 'smart' and 'fast' are")
    context = as_context(context_id)
    with worker.lock:
        opened(worker, context)
    given = _fit(roots)
    limit = worker.timeout_for(timeout)
    deadline = float("inf") if limit is None else time.monotonic() + limit
    seeds = tuple(np.ones_like(root.data) for root in given)
    worker.passes.run(context, given, seeds, mode == "smart", retain_graph, deadline)


@also_called(context="context_id")
def get_gradients(context_id: ContextId | int) -> dict[Tensor, Tensor]:
    """Look at the gradients of this worker's parameters, summed over the passes of a context. `.grad` is not touched (A8)."""
    worker, context = current(), as_context(context_id)
    with worker.lock:
        gradients = dict(opened(worker, context).gradients)
    return {leaf: Tensor(gradient.copy()) for leaf, gradient in gradients.items()}


def backward_on_owner(
    rref: RRef,
    context_id: ContextId | int,
    retain_graph: bool = False,
    mode: str = "smart",
    timeout: float | None = None,
) -> None:
    """Begin a pass where a value is, with that value as its root."""
    worker, context = current(), as_context(context_id)
    if rref.is_owner():
        backward(context, [rref.local_value(timeout)], retain_graph, mode, timeout)
        return
    with worker.lock:
        opened(worker, context)
    arguments: list[Any] = [rref, context, retain_graph, mode, timeout]
    with using(context):
        worker.call(rref.owner_rank(), backward_here, arguments, {}, timeout).wait()


@function
def backward_here(rref: RRef, context: ContextId, retain_graph: bool, mode: str, timeout: float | None) -> None:
    """Begin a pass on the owner, for another worker."""
    backward(context, [rref.local_value(timeout)], retain_graph, mode, timeout)


def backward_here_alone(rref: RRef, retain_graph: bool, timeout: float | None) -> None:
    """Run a pass without a context on the owner of its root. It goes through no call, and adds to `.grad`."""
    (root,) = _fit([rref.local_value(timeout)])
    root.backward(retain_graph=retain_graph)


def _fit(roots: Sequence[Tensor]) -> list[Tensor]:
    """Refuse roots that no pass can begin with (A10)."""
    if not isinstance(roots, list | tuple):
        raise TypeError("the roots of a pass are a list of tensors")
    if not roots:
        raise PassRefused("there are no tensors to begin with")
    for position, root in enumerate(roots):
        if not isinstance(root, Tensor):
            raise TypeError(f"root {position} is no tensor, but {type(root).__qualname__}")
        if not root.requires_grad:
            raise PassRefused(f"root {position} requires no gradient")
        if root.data.size != 1:
            raise PassRefused(f"root {position} has {root.data.size} elements; a root has one")
        if root.is_leaf:
            raise PassRefused(f"root {position} is a leaf: it does not depend on anything")
    return list(roots)
