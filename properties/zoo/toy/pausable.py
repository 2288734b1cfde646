"""The honest backend with workers that can stand still: what they do, and what is done with them, waits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from farref.properties.zoo.toy.honest import Honest
from farref.properties.zoo.toy.references import Handle

PAUSE_S: Final = 0.02


class Pausable(Honest):
    """A backend in one process whose workers can be paused."""

    name = "pausable"
    capabilities = Honest.capabilities | {"fault.pause"}

    def start(self, workers: Sequence[str], options: Mapping[str, Any]) -> None:
        """Begin anew, with everybody awake."""
        super().start(workers, options)
        self.asleep: dict[str, float] = {}
        self.silence = float(options.get("silence", float("inf")))

    def fault(self, kind: str, worker: str, details: Mapping[str, Any]) -> None:
        """Let a worker stand still, or something else go wrong."""
        if kind != "pause":
            super().fault(kind, worker, details)
            return
        self.asleep[worker] = time.monotonic() + details["seconds"]
        if details["seconds"] > self.silence:
            self.overslept(worker)

    def overslept(self, worker: str) -> None:
        """Do nothing about a worker that is silent for too long: nobody is taken for dead who is not."""

    def wait_for(self, worker: str) -> None:
        """Wait until a worker is awake; fail if it dies before."""
        while time.monotonic() < self.asleep.get(worker, 0.0):
            self.reach(worker)
            time.sleep(PAUSE_S)
        self.reach(worker)

    def passed_on(self, source: Handle, to: str) -> Handle:
        """Pass a reference on to somebody who is awake."""
        self.wait_for(to)
        return super().passed_on(source, to)

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Let somebody fetch who is awake."""
        self.wait_for(worker)
        return super().fetch(worker, name, timeout)
