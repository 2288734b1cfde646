"""Backends that break no clause, and that the kit must not be taken in by."""

from __future__ import annotations

import os
import time
from typing import Any

from farref.properties.zoo.toy.honest import Honest


class Dies(Honest):
    """The adapter itself ends when an operation is misused."""

    name = "dies"

    def create(self, worker: str, name: str, owner: str, function: str | None, *details: Any) -> None:
        """End the process."""
        if function == "misuse":
            os._exit(3)
        super().create(worker, name, owner, function, *details)


class NeverStarts(Honest):
    """Its workers are never there."""

    name = "never starts"

    def start(self, workers: Any, options: Any) -> None:
        """Wait for longer than anybody does."""
        time.sleep(3600)
        super().start(workers, options)


class Liar(Honest):
    """It calls itself what another backend is called, and declares what no check asks for any more."""

    name = os.environ.get("LIAR_NAME", "model")
    capabilities = Honest.capabilities | {"controlled"}


class Lazy(Honest):
    """What is dropped is let go when garbage is collected, and that happens when it is asked for."""

    name = "lazy"
    capabilities = Honest.capabilities | {"gc"}

    def start(self, workers: Any, options: Any) -> None:
        """Have no garbage."""
        super().start(workers, options)
        self.garbage: list[tuple[str, str]] = []

    def drop(self, worker: str, name: str) -> None:
        """Let go later."""
        self.garbage.append((worker, name))

    def collect(self) -> None:
        """Let go now."""
        while self.garbage:
            super().drop(*self.garbage.pop())


class NeverCollects(Lazy):
    """As lazy, and it does not say so: nobody asks it to collect."""

    name = "never collects"
    capabilities = Honest.capabilities


class KeptByItsCaller(Honest):
    """A value is kept by whoever asked for it, and so outlives the worker that computed it."""

    name = "kept by its caller"
    capabilities = Honest.capabilities | {"caller_owns"}

    def reach(self, worker: str) -> None:
        """Need nobody."""
