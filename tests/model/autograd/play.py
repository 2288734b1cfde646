"""Take a run of distributed autograd by hand, one labelled step after the other, as the stories write them."""

from __future__ import annotations

from typing import Any

from farref.model.autograd.ids import PassId
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import Pass
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.worker import Worker
from farref.model.autograd.world import Bounds, World, pass_of
from tests.model.rref.play import named


class Play:
    """A world, and the steps taken in it so far."""

    def __init__(self, graph: str, rules: AutogradRules = SOUND, **bounds: Any) -> None:
        self.model = AutogradModel(Bounds(graph, **bounds), rules)
        self.world: World = self.model.initial

    def __call__(self, *labels: str) -> Play:
        """Take the steps; each must be possible."""
        for label, action in zip(labels, named(self.model, *labels), strict=True):
            after = self.model.step(self.world, action)
            assert after is not None, f"{label} cannot happen now; what can: {', '.join(self.enabled())}"
            self.world = after
        return self

    def enabled(self) -> list[str]:
        """List what can happen now."""
        return [str(action) for action in self.model.actions if self.model.step(self.world, action) is not None]

    def finish(self) -> Play:
        """Let the network deliver whatever it can, until nothing is under way."""
        while labels := [label for label in self.enabled() if label.startswith("Deliver(")]:
            self(labels[0])
        return self

    def worker(self, name: str) -> Worker:
        """The record of a worker."""
        return self.world.workers["ABCDEFGH".index(name)]

    def backward(self, number: int = 1) -> Pass:
        """The root's record of a pass."""
        return pass_of(self.world, PassId(number))

    @property
    def gradients(self) -> dict[str, int]:
        """The gradients that can be seen, by worker."""
        seen = zip("ABCDEFGH", self.world.workers, strict=False)
        return {name: worker.gradient for name, worker in seen if worker.gradient is not None}
