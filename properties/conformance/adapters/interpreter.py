"""The steps of gradient programs (`programs.py`), for any backend whose tensors know `+`, `*` and `register_hook`.

How a call is made, and what it is to be in a context, the backend says (`Calls`). An argument that is a leaf of the worker
that computes travels by its name, anything else as the value that it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from farref.properties.conformance.kit.programs import Step

T = TypeVar("T")
Hooking: TypeAlias = Callable[[Any, Callable[[Any], None]], Any]


class Calls(Protocol):
    """What a backend does for the steps of a program in one context."""

    def within(self, act: Callable[[], T]) -> T:
        """Do something in the context."""

    def unrecorded(self) -> AbstractContextManager[Any]:
        """Turn recording off for a while."""

    def put_leaf(self, on: str, name: str, step: Step) -> None:
        """Have a leaf on a worker. Not in the context."""

    def relay(self, path: Sequence[str], operation: str, args: Sequence[Any]) -> Any:
        """Have something computed at the end of a path of workers, each calling the next."""

    def remote(self, on: str, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed and kept on a worker; give the reference."""

    def compute(self, operation: str, args: Sequence[Any]) -> Any:
        """Have something computed here, without a call."""

    def optimize(self, leaves: Mapping[str, str], step: Step) -> None:
        """Have the leaves moved, each on its worker. Not in the context, but with its gradients."""


@dataclass(frozen=True)
class Interpreter:
    """Takes steps on one worker, in one context."""

    here: str
    calls: Calls
    places: Mapping[str, str]
    """Where every leaf is."""
    leaves: Mapping[str, Any]
    """The leaves that are here."""
    results: dict[str, Any]

    def take(self, step: Step) -> None:
        """Take a step, and keep its result."""
        try:
            self._take(step)
        except Exception:
            if not step.get("may_fail"):
                raise

    def _take(self, step: Step) -> None:
        calls, results = self.calls, self.results
        match step:
            case {"leaf": name, "on": on}:
                calls.put_leaf(on, name, step)
            case {"optimize": names}:
                calls.optimize({name: self.places[name] for name in names}, step)
            case {"let": name, "fetch": of}:
                results[name] = self._within(step, lambda: self.result(of).to_here())
            case {"remote": name, "on": on, "operation": operation, "args": args}:
                given = self._given(args, on)
                results[name] = self._within(step, lambda: calls.remote(on, operation, given))
            case {"let": name, "on": on, "operation": operation, "args": args}:
                path, given = [*step.get("through", ()), on], self._given(args, on)
                results[name] = self._within(step, lambda: calls.relay(path, operation, given))
            case {"let": name, "operation": operation, "args": args}:
                given = self._given(args, self.here)
                results[name] = self._within(step, lambda: self.calls.compute(operation, given))
            case _:
                raise NotImplementedError(f"this is not a step: {step}")

    def _within(self, step: Step, act: Callable[[], Any]) -> Any:
        def do() -> Any:
            with nullcontext() if step.get("recording", True) else self.calls.unrecorded():
                return act()

        return self.calls.within(do)

    def result(self, name: str) -> Any:
        """Find what a step gave."""
        if name not in self.results:
            raise LookupError(f"{self.here} has no result {name}")
        return self.results[name]

    def _given(self, args: Sequence[Any], on: str) -> list[Any]:
        return [self._argument(one, on) if isinstance(one, str) else one for one in args]

    def _argument(self, name: str, on: str) -> Any:
        if name in self.results:
            return self.results[name]
        if self.places.get(name) == on:
            return {"leaf": name}
        if name in self.leaves:
            return self.leaves[name]
        raise LookupError(f"{self.here} has neither a result nor a leaf {name}")


def compute(operation: str, args: Sequence[Any], leaves: Mapping[str, Any], hooked: Hooking | None = None) -> Any:
    """Compute something here. `hooked` makes a value whose backward does something, in the way of the backend."""
    hooked = hooked or _hooked
    given = [leaves[one["leaf"]] if isinstance(one, dict) else one for one in args]
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


def _hooked(value: Any, hook: Callable[[Any], None]) -> Any:
    """Give a value whose gradient meets with something."""
    between = value * 1.0
    between.register_hook(hook)
    return between * 1.0


def _spring(_gradient: Any) -> None:
    raise ValueError("its gradient cannot be computed")
