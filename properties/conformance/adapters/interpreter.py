"""Gradient programs (`programs.py`), taken by a worker whose backend has PyTorch's names (`library.py`).

An argument that is a leaf of the worker that computes travels by its name, anything else as the value that it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from farref.properties.conformance.adapters.functions import leaves
from farref.properties.conformance.adapters.library import library
from farref.properties.conformance.kit.programs import Step

T = TypeVar("T")


class OpenContext(Protocol):
    """An autograd context in which a worker takes steps."""

    id: Any
    results: dict[str, Any]
    """What was computed in it, by name."""

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context."""

    def close(self) -> None:
        """Release it, whoever is still at work in it."""


@dataclass(frozen=True)
class Interpreter:
    """Takes steps on one worker, in one context."""

    here: str
    context: OpenContext
    places: Mapping[str, str]
    """Where every leaf is."""
    optimizers: dict[str, Any]

    def take(self, step: Step) -> None:
        """Take a step, and keep its result."""
        try:
            self._take(step)
        except Exception:
            if not step.get("may_fail"):
                raise

    def _take(self, step: Step) -> None:
        backend, results = library(), self.context.results
        match step:
            case {"leaf": name, "on": on, "value": value}:
                backend.rpc_sync(on, put_leaf, args=(name, float(value), step.get("parameter", False)))
            case {"optimize": names}:
                self._optimize(names, step)
            case {"let": name, "fetch": of}:
                results[name] = self._within(step, lambda: self.result(of).to_here())
            case {"remote": name, "on": on, "operation": operation, "args": args}:
                given = self._given(args, on)
                results[name] = self._within(step, lambda: backend.remote(on, compute, args=(operation, given)))
            case {"let": name, "on": on, "operation": operation, "args": args}:
                path, given = [*step.get("through", ()), on], self._given(args, on)
                results[name] = self._within(step, lambda: relay(path, operation, given))
            case {"let": name, "operation": operation, "args": args}:
                given = self._given(args, self.here)
                results[name] = self._within(step, lambda: compute(operation, given))
            case _:
                raise NotImplementedError(f"this is not a step: {step}")

    def _within(self, step: Step, act: Callable[[], Any]) -> Any:
        def do() -> Any:
            with nullcontext() if step.get("recording", True) else library().no_grad():
                return act()

        return self.context.within(do)

    def _optimize(self, names: Sequence[str], step: Step) -> None:
        """Have leaves moved, by the optimizer that was made for them once. Not in the context, but with its gradients."""
        key, backend = repr(sorted(step.items())), library()
        if key not in self.optimizers:
            references = [backend.remote(self.places[name], leaf, args=(name,)) for name in names]
            kind = backend.own_sgd if step.get("own") else backend.sgd
            self.optimizers[key] = backend.optimizer(kind, references, lr=float(step["rate"]))
        self.optimizers[key].step(self.context.id)

    def result(self, name: str) -> Any:
        """Find what a step gave."""
        if name not in self.context.results:
            raise LookupError(f"{self.here} has no result {name}")
        return self.context.results[name]

    def _given(self, args: Sequence[Any], on: str) -> list[Any]:
        return [self._argument(one, on) if isinstance(one, str) else one for one in args]

    def _argument(self, name: str, on: str) -> Any:
        if name in self.context.results:
            return self.context.results[name]
        if self.places.get(name) == on:
            return {"leaf": name}
        if name in leaves:
            return leaves[name]
        raise LookupError(f"{self.here} has neither a result nor a leaf {name}")


# -- what other workers call -------------------------------------------------------------------------------------------


def put_leaf(name: str, value: float, is_parameter: bool) -> None:
    """Have a leaf here."""
    leaves[name] = library().leaf(value, is_parameter)


def leaf(name: str) -> Any:
    """Give a leaf, for the optimizer."""
    return leaves[name]


def relay(path: list[str], operation: str, args: list[Any]) -> Any:
    """Have something computed at the end of a path of workers, each calling the next."""
    if not path:
        return compute(operation, args)
    return library().rpc_sync(path[0], relay, args=(path[1:], operation, args))


def compute(operation: str, args: list[Any]) -> Any:
    """Compute something here."""
    given, hooked = [leaves[one["leaf"]] if isinstance(one, dict) else one for one in args], library().hooked
    match operation:
        case "add":
            return given[0] + given[1]
        case "mul":
            return given[0] * given[1]
        case "first":
            return given[0] * 1.0
        case "fail":
            raise ValueError("it fails as it is computed")
        case "slow":
            time.sleep(given[1])
            return given[0] * 1.0
        case "trap":
            return hooked(given[0], _spring)
        case "late":
            return hooked(given[0], lambda _: time.sleep(given[1]))
        case _:
            raise NotImplementedError(f"there is no operation {operation}")


def _spring(_gradient: Any) -> None:
    raise ValueError("its gradient cannot be computed")


CALLED: Final = (put_leaf, leaf, relay, compute)
