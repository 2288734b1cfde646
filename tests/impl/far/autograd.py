"""Functions that the tests of distributed autograd call on other workers."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager
from typing import Any

from farref.impl import Future, RRef, get_debug_info, get_worker_info, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.core.autograd.ids import ContextId
from farref.impl.tape import Tensor, no_grad, tanh, tensor
from farref.impl.worker.recording import CURRENT, using

parameters: dict[str, Tensor] = {}


def parameter(name: str, number: Any = 1.0) -> None:
    """Have a parameter of a name here."""
    parameters[name] = tensor(number, dtype="float64", requires_grad=True)


def parameter_rref(number: float | list[float]) -> Tensor:
    """A parameter, for `remote`."""
    return tensor(number, dtype="float64", requires_grad=True)


def value_of(rref: RRef) -> Any:
    return rref.local_value().data


def times(name: str, x: Tensor | float) -> Tensor:
    """A result that depends on a parameter here, and on the argument."""
    return parameters[name] * x


def scaled(name: str, factor: float) -> Tensor:
    return parameters[name] * factor


def double(x: Tensor) -> Tensor:
    return x * 2.0


def ignore(_x: Tensor, name: str) -> Tensor:
    return parameters[name] * 1.0


def fail(_x: Tensor) -> None:
    raise ValueError("it failed in forward")


def through(path: list[str], x: Tensor) -> Tensor:
    """Go on along a path of workers, doubling at each."""
    if not path:
        return x * 2.0
    return rpc_sync(path[0], through, [path[1:], x * 2.0])  # type: ignore[no-any-return]


def both(pair: tuple[Tensor, dict[str, Tensor]]) -> list[Tensor]:
    first, second = pair
    return [first * 2.0, second["x"] * 3.0]


def later(x: Tensor) -> Future:
    me = get_worker_info().name
    return rpc_async(me, double, [x])


def failing_rule(x: Tensor, seconds: float = 0.0) -> Tensor:
    """A result whose gradient cannot be computed."""
    result = x * 1.0

    def hook(_gradient: Tensor) -> None:
        time.sleep(seconds)
        raise ValueError("no gradient today")

    result.register_hook(hook)
    return result * 1.0


def slow_rule(x: Tensor, seconds: float) -> Tensor:
    """A result whose gradient takes its time."""
    result = x * 1.0
    result.register_hook(lambda _gradient: time.sleep(seconds))
    return result * 1.0


gate = threading.Event()


def gated_rule(x: Tensor) -> Tensor:
    """A result whose gradient goes no further until the gate is opened."""

    def wait(_gradient: Tensor) -> None:
        gate.wait()

    gate.clear()
    result = x * 1.0
    result.register_hook(wait)
    return result * 1.0


def open_gate() -> None:
    gate.set()


def gradient(context_id: ContextId, name: str) -> Any:
    """The gradient of a parameter here, or nothing."""
    found = get_gradients(context_id).get(parameters[name])
    return None if found is None else found.data


def without_recording(to: str, x: Tensor) -> Tensor:
    with no_grad():
        return rpc_sync(to, double, [x])  # type: ignore[no-any-return]


def needs_gradient(x: Tensor) -> bool:
    return x.requires_grad


def kept_remotely(to: str, x: Tensor) -> Tensor:
    return remote(to, double, [x]).to_here()  # type: ignore[no-any-return]


def backward_there(context_id: ContextId, x: Tensor, retain_graph: bool = False) -> None:
    """Begin a pass on this worker."""
    backward(context_id, [x * 3.0], retain_graph)


def nothing(_context: ContextId | None = None) -> None:
    pass


def contexts() -> int:
    return len(get_debug_info().contexts)


def left_over() -> int:
    """Count everything of autograd that a worker keeps."""
    worker = current()
    with worker.lock:
        engine, passes = worker.core.engine, worker.passes
        return len(engine.contexts) + len(engine.passes) + len(engine.fetching) + len(passes.waiting) + passes.works


def tasks() -> int:
    return sum(one.task is not None for one in get_debug_info().contexts)


def own_context() -> float:
    """A pass of this worker alone, inside a call that carries no context."""
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        backward(context_id, [x * x])
        return float(get_gradients(context_id)[x].data)


def gradient_of_rref(context_id: ContextId, rref: RRef) -> Any:
    return get_gradients(context_id)[rref.local_value()].data


def slowly(x: Tensor, seconds: float) -> Tensor:
    time.sleep(seconds)
    return x * 1.0


def slow_rule_through(to: str, x: Tensor) -> Tensor:
    """A result that came by way of another worker, and whose gradient takes its time here."""
    return slow_rule(rpc_sync(to, times, ["w", x]), 5.0)


kept: list[Any] = []


def open_and_keep(to: str) -> None:
    """Open a context that another worker learns of, and leave it open."""
    block = context()
    block.__enter__()
    kept.append(block)
    rpc_sync(to, nothing)


def current_context() -> ContextId:
    found = CURRENT.get()
    assert found is not None
    return found


def no_context() -> AbstractContextManager[None]:
    return using(None)


def recorded(context_id: ContextId) -> list[int]:
    """How many sends and recvs are recorded here, by a call that carries no context."""
    (view,) = (one for one in get_debug_info().contexts if one.context == context_id)
    return [view.sends, view.recvs]


def added(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def dense(name: str, x: Tensor) -> Tensor:
    """A layer with a parameter here."""
    return tanh(x @ parameters[name])


def mixed(a: Tensor, b: Tensor) -> Tensor:
    return tanh(a @ b) * a + b.T


def product(a: Tensor, b: Tensor) -> Tensor:
    return a @ b


def total(many: list[Tensor]) -> Tensor:
    summed = many[0]
    for one in many[1:]:
        summed = summed + one
    return summed


def pass_on(to: str, argument: Any) -> None:
    rpc_sync(to, echo, [argument])


def echo(value: Any) -> Any:
    return value


def times_value(held: RRef, x: Tensor) -> Tensor:
    return held.to_here() * x  # type: ignore[no-any-return]


def train(held: RRef, factor: float) -> Any:
    """A pass of one trainer; the gradient that its context has on the worker with the parameter."""
    with using(None), context() as context_id:
        backward(context_id, [(held.to_here() * factor).sum()])
        return rpc_sync(held.owner(), gradient_of_rref, [context_id, held]).tolist()


failures_left = 0


def fails_at_first(x: Tensor, times: int) -> Tensor:
    """A result whose gradient fails so many times."""
    global failures_left
    failures_left = times
    result = x * 1.0

    def hook(_gradient: Tensor) -> None:
        global failures_left
        failures_left -= 1
        if failures_left >= 0:
            raise ValueError("not yet")

    result.register_hook(hook)
    return result * 1.0


def own_pass_through(to: str, number: float) -> float:
    """A context of one's own, with calls to another worker."""
    x = tensor(number, requires_grad=True)
    with using(None), context() as context_id:
        backward(context_id, [rpc_sync(to, through, [[get_worker_info().name], x])])
        return float(get_gradients(context_id)[x].data)


seen_passes: list[int] = []


def watched(x: Tensor) -> Tensor:
    """A result whose gradient notes how many passes this worker is in."""
    seen_passes.clear()
    result = x * 1.0
    result.register_hook(lambda _gradient: seen_passes.append(tasks()))
    return result * 1.0


def passes_seen() -> list[int]:
    return list(seen_passes)
