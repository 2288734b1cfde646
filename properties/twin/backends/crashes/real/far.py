"""What runs in the workers of a story: what an application does, and how a worker is lost at a message."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import msgspec

from farref.impl.api import get_debug_info, remote, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.core.autograd.ids import ContextId
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage, Control
from farref.impl.errors import RpcError
from farref.impl.rref import RRef
from farref.impl.tape import Tensor, tensor
from farref.impl.worker.process import current

VALUE: Final = 7
RIGHT: Final = {"B": 3.0, "C": 2.0}
"""The gradients of a pass, by the worker that has the parameter."""
HANDLES: Final[defaultdict[str, list[RRef]]] = defaultdict(list)
PARAMETERS: Final[list[Tensor]] = []


# References


def value() -> int:
    """Compute a value."""
    return VALUE


def create(name: str, owner: str) -> None:
    """Create a value on a worker."""
    HANDLES[name].append(remote(owner, value))


def make(name: str) -> None:
    """Make a value here."""
    HANDLES[name].append(RRef(VALUE))


def keep(name: str, rref: RRef) -> None:
    """Keep a reference."""
    HANDLES[name].append(rref)


def give(name: str) -> RRef:
    """Return a reference."""
    return HANDLES[name][-1]


def pass_to(name: str, target: str) -> None:
    """Pass a reference to a worker, if there is one."""
    if HANDLES[name]:
        rpc_sync(target, keep, [name, HANDLES[name][-1]])


def take_from(name: str, source: str) -> None:
    """Have a worker return a reference."""
    HANDLES[name].append(rpc_sync(source, give, [name]))


def fetch(name: str) -> list[tuple[bool, int, int, str]]:
    """Fetch all that is held of a name: whether the value came, who owns and who made it, and otherwise what went wrong."""
    return [_fetched(rref) for rref in list(HANDLES[name])]


def _fetched(rref: RRef) -> tuple[bool, int, int, str]:
    made_by = int(rref.reference.rref.created_on)
    try:
        return rref.to_here() == VALUE, int(rref.owner().id), made_by, ""
    except RpcError as error:
        return False, int(rref.owner().id), made_by, f"{type(error).__name__}: {error}"


def drop(name: str) -> None:
    """Let one handle go."""
    if HANDLES[name]:
        HANDLES[name].pop()
    gc.collect()


def drop_all() -> None:
    """Let everything go."""
    HANDLES.clear()
    PARAMETERS.clear()
    gc.collect()


def tables() -> bytes:
    """Show all tables of this worker."""
    return msgspec.msgpack.encode(get_debug_info())


# Passes


def parameter() -> None:
    """Have a parameter here."""
    PARAMETERS[:] = [tensor(VALUE, dtype="float64", requires_grad=True)]


def scaled(factor: float) -> Tensor:
    """A result that depends on the parameter here."""
    return PARAMETERS[0] * factor


def total(sends_it_on: bool) -> Tensor:
    """On B: a result that depends on the parameters of B and C. In one story it is sent to C too, where nobody uses it."""
    result = PARAMETERS[0] * RIGHT["B"] + rpc_sync("C", scaled, [RIGHT["C"]])
    if sends_it_on:
        rpc_sync("C", ignore, [result * 1.0])
    return result  # type: ignore[no-any-return]


def ignore(_: Tensor) -> None:
    """Take a tensor, and do nothing with it."""


def begin_at_b(made: ContextId) -> None:
    """On B: make a pass in a context of another worker."""
    backward(made, [total(False)])


def run_pass(story: str) -> tuple[str, dict[str, float | None]]:
    """On A: make a pass, and say how it ended and what B and C see of it."""
    with context() as made:
        try:
            if story == "other root":
                rpc_sync("B", begin_at_b, [made])
            else:
                backward(made, [rpc_sync("B", total, [story == "unused"])])
            told = ""
        except RpcError as error:
            told = f"{type(error).__name__}: {error}"
        seen = {}
        for name in RIGHT:
            try:
                seen[name] = rpc_sync(name, gradient, [made])
            except RpcError:
                continue  # it is lost
        return told, seen


def gradient(made: ContextId) -> float | None:
    """Say what is seen of the gradient of the parameter here."""
    found = get_gradients(made).get(PARAMETERS[0])
    return None if found is None else float(found.item())


# How this worker is lost


def arm(peer: str, kind: str, occurrence: int, is_sender: bool, is_after: bool, stops: bool) -> None:
    """Be lost at a message to or from a peer."""
    worker = current()
    other, left = worker.find(peer), [occurrence]
    end = _stop if stops else partial(os.kill, os.getpid(), signal.SIGKILL)

    def is_it(who: WorkerId, message: AnyMessage) -> bool:
        left[0] -= who == other and kind_of(message) == kind
        return who == other and kind_of(message) == kind and not left[0]

    hook(is_it, end, is_sender=is_sender, is_after=is_after)


def _stop() -> None:
    """Stop before anything else is done here. A signal to the process could be for another thread, which may get it later."""
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def hook(
    is_it: Callable[[WorkerId, AnyMessage], bool], end: Callable[[], None], *, is_sender: bool, is_after: bool
) -> None:
    """Call something at a message: before it leaves or takes effect, or when it has."""
    worker = current()
    post, receive = worker.post, worker.core.receive

    def posting(target: WorkerId, message: AnyMessage, segments: Any) -> None:
        if not is_it(target, message):
            post(target, message, segments)
        elif is_after:
            post(target, message, segments)
            worker.connections[target].gather()
            worker.connections[target].flush()
            end()
        else:
            end()
            post(target, message, segments)  # if it was only stopped

    def receiving(source: WorkerId, message: AnyMessage, content: object = None) -> Any:
        if not is_it(source, message):
            return receive(source, message, content)
        if not is_after:
            end()
        effects = receive(source, message, content)
        if is_after:
            end()
        return effects

    if is_sender:
        worker.post = posting  # type: ignore[method-assign]
    else:
        worker.core.receive = receiving  # type: ignore[method-assign]


def kind_of(message: AnyMessage) -> str:
    """Say what a message is; a numbered one is what it carries."""
    return type(message.body if isinstance(message, Control) else message).__name__
