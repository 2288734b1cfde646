"""A backend that is a dictionary, behind an adapter: quick, and with nothing that could go wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any


def run(function: str, args: Sequence[Any]) -> Any:
    """Carry out one of the functions."""
    match function, args:
        case "slow", [seconds, value]:
            time.sleep(seconds)
            return value
        case "value_of", [future]:
            return future.result()
        case "fail", [message]:
            raise ValueError(message)
        case _:
            return args[0]


class Toy:
    """Handles are futures, in a dictionary."""

    name, version = "toy", "1.0"

    def __init__(self) -> None:
        functions = ("echo", "slow", "value_of", "fail")
        self.capabilities = frozenset(
            ["create", "share", "drop", "fetch", "call", "concurrent", *(f"function.{name}" for name in functions)]
        )
        self.held: dict[tuple[str, str], Future[Any]] = {}

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Begin with nothing."""
        self.held = {}

    def create(self, worker: str, name: str, owner: str, function: str, args: Sequence[Any], timeout: Any) -> None:
        """Compute a value in a thread."""
        future: Future[Any] = Future()
        given = self.resolved(worker, args)
        self.held[worker, name] = future
        Thread(target=_settle, args=(future, function, given), daemon=True).start()

    def share(self, worker: str, name: str, to: str) -> None:
        """Let another have it too."""
        self.held[to, name] = self.held[worker, name]

    def drop(self, worker: str, name: str) -> None:
        """Forget it."""
        del self.held[worker, name]

    def fetch(self, worker: str, name: str, timeout: Any) -> Any:
        """Wait for the value."""
        return self.held[worker, name].result()

    def call(self, worker: str, to: str, function: str, args: Sequence[Any], timeout: Any) -> Any:
        """Run a function here and now."""
        return run(function, self.resolved(worker, args))

    def stop(self) -> Sequence[str]:
        """End with nothing."""
        return []

    def resolved(self, worker: str, args: Sequence[Any]) -> list[Any]:
        """Put handles for their names."""
        return [self.held[worker, one["rref"]] if isinstance(one, dict) else one for one in args]


def _settle(future: Future[Any], function: str, args: Sequence[Any]) -> None:
    try:
        future.set_result(run(function, args))
    except Exception as error:
        future.set_exception(error)
