"""The functions that the kit names, for workers that are threads of one process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from farref.properties.zoo.toy.references import Handle


class Functions:
    """What workers can compute. References that a function is given are its own worker's."""

    def __init__(
        self,
        value_of: Callable[[Handle], Any],
        pass_on: Callable[[Handle, str], None],
        call: Callable[..., Any],
    ) -> None:
        self._value_of, self._pass_on, self._call = value_of, pass_on, call
        self._lock, self._counts = threading.Lock(), Counter[str]()

    def find(self, worker: str, name: str) -> Callable[..., Any]:
        """Find a function of a worker."""
        found = getattr(self, f"do_{name}", None)
        if found is None:
            raise LookupError(f"{worker} has no function {name}")
        return lambda *args: found(worker, *args)

    def do_echo(self, _worker: str, value: Any) -> Any:
        """Give the argument back."""
        return value

    def do_slow(self, _worker: str, seconds: float, value: Any) -> Any:
        """Give a value after a while."""
        time.sleep(seconds)
        return value

    def do_busy(self, _worker: str, seconds: float) -> bool:
        """Take one's time."""
        time.sleep(seconds)
        return True

    def do_fail(self, _worker: str, message: str) -> None:
        """Raise an error."""
        raise ValueError(message)

    def do_misuse(self, _worker: str) -> Any:
        """Raise what a built-in operation raises."""
        return 1 // 0

    def do_value_of(self, _worker: str, handle: Handle) -> Any:
        """Give the value of a reference."""
        return self._value_of(handle)

    def do_pass_on(self, _worker: str, handle: Handle, to: str) -> Any:
        """Let another worker look at a reference first."""
        self._pass_on(handle, to)
        return self._value_of(handle)

    def do_hold(self, _worker: str, handle: Handle, seconds: float) -> bool:
        """Keep a reference for a while."""
        time.sleep(seconds)
        return isinstance(handle, Handle)

    def do_later(self, _worker: str, handle: Handle, seconds: float) -> Any:
        """Give the value of a reference after a while."""
        time.sleep(seconds)
        return self._value_of(handle)

    def do_heirloom(self, worker: str) -> str:
        """Give what was there before the workers, as this one has it."""
        return worker

    def do_count(self, worker: str, key: Any) -> int:
        """Say how often this was called on this worker."""
        with self._lock:
            self._counts[f"{worker} {key!r}"] += 1
            return self._counts[f"{worker} {key!r}"]

    def do_witness(self, worker: str, key: Any, *handles: Handle) -> list[Any]:
        """Leave a trace, then give the values of some references."""
        self.do_count(worker, key)
        return [self._value_of(handle) for handle in handles]

    def do_unwritable(self, _worker: str) -> Any:
        """Raise what writing such a value would raise: here nothing is written."""
        raise TypeError("a value cannot be written")

    def do_nest(self, _worker: str, depth: int, here: str, there: str) -> int:
        """Call to and fro."""
        return 0 if depth == 0 else 1 + int(self._call(here, there, "nest", [depth - 1, there, here], None))
