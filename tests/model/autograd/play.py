"""Take a run of distributed autograd by hand. To finish is to let the network deliver what is under way."""

from __future__ import annotations

from typing import Any, ClassVar

from farref.model.autograd.ids import PassId
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import Pass
from farref.model.autograd.rules import SOUND, AutogradRules
from farref.model.autograd.worker import Worker
from farref.model.autograd.world import Bounds, World, pass_of
from farref.model.ids import WORKER_NAMES, worker_named
from tests.model import play


class Play(play.Play[AutogradModel]):
    """A world of distributed autograd, and the steps taken in it so far."""

    world: World
    finishing: ClassVar = "Deliver("

    def __init__(self, graph: str, rules: AutogradRules = SOUND, **bounds: Any) -> None:
        super().__init__(AutogradModel(Bounds(graph, **bounds), rules))

    def worker(self, name: str) -> Worker:
        """The record of a worker."""
        return self.world.workers[worker_named(name)]

    def backward(self, number: int = 1) -> Pass:
        """The root's record of a pass."""
        return pass_of(self.world, PassId(number))

    @property
    def gradients(self) -> dict[str, int]:
        """The gradients that can be seen, by worker."""
        seen = zip(WORKER_NAMES, self.world.workers, strict=False)
        return {name: worker.gradient for name, worker in seen if worker.gradient is not None}
