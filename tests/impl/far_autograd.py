"""Functions that the tests of distributed autograd call on other workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from farref.impl import Future, RRef, get_debug_info, get_worker_info, remote, rpc_async, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.engine.ids import ContextId
from farref.impl.recorder import CURRENT, using
from farref.impl.tape import SGD, Tensor, no_grad, tensor

parameters: dict[str, Tensor] = {}


def parameter(name: str, number: float | list[float] = 1.0) -> None:
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


def fetched(rref: RRef) -> Tensor:
    return rref.to_here() * 1.0  # type: ignore[no-any-return]


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


def gradient(context_id: ContextId, name: str) -> Any:
    """The gradient of a parameter here, or nothing."""
    found = get_gradients(context_id).get(parameters[name])
    return None if found is None else found.data


def dot_grad(name: str) -> bool:
    return parameters[name].grad is None


def without_recording(to: str, x: Tensor) -> Tensor:
    with no_grad():
        return rpc_sync(to, double, [x])  # type: ignore[no-any-return]


def needs_gradient(x: Tensor) -> bool:
    return x.requires_grad


def kept_remotely(to: str, x: Tensor) -> Tensor:
    return remote(to, double, [x]).to_here()  # type: ignore[no-any-return]


def backward_there(context_id: ContextId, x: Tensor) -> None:
    """Begin a pass on this worker."""
    backward(context_id, [x * 3.0])


def nothing(_context: ContextId | None = None) -> None:
    pass


def contexts() -> int:
    return len(get_debug_info().contexts)


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


class Watched(SGD):
    """An optimizer that is slow, and notes if somebody else steps meanwhile."""

    stepping = 0
    together = 0

    def step(self, gradients: Mapping[Tensor, Any] | None = None) -> None:
        Watched.stepping += 1
        time.sleep(0.05)
        Watched.together = max(Watched.together, Watched.stepping)
        super().step(gradients)
        Watched.stepping -= 1


def steps_together() -> int:
    return Watched.together


class Failing(SGD):
    """An optimizer that cannot step."""

    def step(self, gradients: Mapping[Tensor, Any] | None = None) -> None:
        raise ValueError(f"no step on {get_worker_info().name}, with {len(gradients or {})} gradients")


class Unmakeable(SGD):
    """An optimizer that cannot be made on one of the workers."""

    def __init__(self, params: Iterable[Tensor], lr: float = 1.0) -> None:
        if get_worker_info().name == "C":
            raise ValueError("not on C")
        super().__init__(params, lr)


class NoOptimizer:
    """Nothing that steps."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None: ...


def current_context() -> ContextId:
    found = CURRENT.get()
    assert found is not None
    return found


def no_context() -> AbstractContextManager[None]:
    return using(None)
