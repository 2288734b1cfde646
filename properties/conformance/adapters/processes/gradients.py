"""Gradient programs on the workers of `processes`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from farref.impl import function, remote, rpc_sync
from farref.impl.api import current
from farref.impl.autograd import ContextId, DistributedOptimizer, backward, get_gradients
from farref.impl.tape import SGD, Tensor, no_grad, tensor
from farref.impl.worker.recording import using
from farref.properties.conformance.adapters.functions import leaves
from farref.properties.conformance.adapters.interpreter import Interpreter, compute
from farref.properties.conformance.kit.programs import Step

T = TypeVar("T")


@function
class OwnSGD(SGD):
    """An optimizer of the application's own."""


@function
def put_leaf(name: str, value: float) -> None:
    """Have a leaf here."""
    leaves[name] = tensor(value, dtype="float64", requires_grad=True)


@function
def leaf(name: str) -> Tensor:
    """Give a leaf, for the optimizer."""
    found: Tensor = leaves[name]
    return found


@function
def compute_here(operation: str, args: list[Any]) -> Any:
    """Compute something for another worker."""
    return compute(operation, args, leaves)


@function
def relay(path: list[str], operation: str, args: list[Any]) -> Any:
    """Have something computed further along a path."""
    return rpc_sync(path[0], relay, [path[1:], operation, args]) if path else compute_here(operation, args)


@dataclass(frozen=True)
class Calls:
    """Calls in one context."""

    context: ContextId
    optimizers: dict[str, DistributedOptimizer]

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context."""
        with using(self.context):
            return act()

    def unrecorded(self) -> AbstractContextManager[None]:
        """Turn recording off for a while."""
        return no_grad()

    def put_leaf(self, on: str, name: str, step: Step) -> None:
        """Have a leaf on a worker."""
        rpc_sync(on, put_leaf, [name, float(step["value"])])

    def relay(self, path: Sequence[str], operation: str, args: Sequence[Any]) -> Any:
        """Have something computed at the end of a path."""
        return rpc_sync(path[0], relay, [list(path[1:]), operation, list(args)])

    def remote(self, on: str, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed and kept on a worker."""
        return remote(on, compute_here, [operation, list(args)])

    def compute(self, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed here, without a call."""
        return compute_here(operation, list(args))

    def optimize(self, leaves: Mapping[str, str], step: Step) -> None:
        """Have the leaves moved, by the optimizer that was made for them once."""
        key = repr(sorted(step.items()))
        if key not in self.optimizers:
            references = [remote(on, leaf, [name]) for name, on in leaves.items()]
            kind = OwnSGD if step.get("own") else SGD
            self.optimizers[key] = DistributedOptimizer(kind, references, lr=float(step["rate"]))
        self.optimizers[key].step(self.context)


class Gradients:
    """The open contexts of one worker, and what was computed in them."""

    def __init__(self, here: str) -> None:
        self._here = here
        self._opened: dict[str, ContextId] = {}
        self._results: dict[ContextId, dict[str, Any]] = {}
        self._optimizers: dict[str, DistributedOptimizer] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._opened

    def open(self, name: str) -> ContextId:
        """Open a context."""
        worker = current()
        with worker.lock:
            self._opened[name] = worker.core.engine.open_context()
        return self._opened[name]

    def release(self, name: str) -> None:
        """Release a context, whoever is still at work in it."""
        worker, context = current(), self._opened.pop(name)
        self._results.pop(context, None)
        if not self._opened:
            self._optimizers.clear()
        with worker.lock:
            worker.perform(worker.core.engine.release(context))
        worker.flush()

    def run(
        self,
        context: ContextId,
        places: Mapping[str, str],
        steps: Sequence[Step],
        roots: Sequence[str],
        mode: str,
        retain: bool,
        timeout: float | None,
    ) -> None:
        """Take steps in a context, then go back from some roots."""
        results = self._results.setdefault(context, {})
        interpreter = Interpreter(self._here, Calls(context, self._optimizers), places, leaves, results)
        for step in steps:
            interpreter.take(step)
        if roots:
            backward(context, [interpreter.result(root) for root in roots], retain, mode, timeout)

    def found(self, context: ContextId) -> Mapping[str, float]:
        """Give the gradients of the leaves here, by name."""
        gradients = get_gradients(context)
        return {name: gradients[leaf].item() for name, leaf in leaves.items() if leaf in gradients}
