"""The implementation's core over its simulated network, in this process (`lockstep.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from farref.impl.core.core import Core
from farref.impl.core.ids import SequenceNumber, WorkerId
from farref.impl.core.observe import observe
from farref.impl.simulated.network import Simulation
from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds
from farref.properties.rref.observation import Observation
from farref.properties.twin.backends.driven import Driven
from farref.properties.twin.backends.rref.lockstep import Lockstep
from farref.properties.twin.backends.rref.network import Seen


class SimulatedBackend(Driven[Action, Observation]):
    """Several cores in this process; every delivery is chosen by the caller."""

    name = "simulated"
    protocol = "rref"
    lockstep: Lockstep

    def start(self, bounds: Bounds) -> None:
        """Begin with new cores."""
        self.network = SeenSimulation(bounds.workers)
        self.lockstep = Lockstep(self.network, bounds, restless=self.restless)


class SeenSimulation(Simulation):
    """A simulation that knows which workers have done something since anybody looked: the others are as they were."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.cores = self.used_cores = Cores(self.cores)

    def look(self) -> Iterator[Seen]:
        """Look at the workers that have done something since the last look."""
        while self.used_cores.used:
            core = self.used_cores.at_rest(self.used_cores.used.pop())
            yield Seen(observe(core), core.user.parents, core.here.closing)

    def unanswered(self, worker: WorkerId) -> tuple[tuple[WorkerId, SequenceNumber], ...]:
        """List what a worker could retry."""
        waiting = self.used_cores.at_rest(worker).channel.unanswered()
        return tuple((peer, number) for peer, number, _, _ in waiting)

    def shut_down(self) -> None:
        """Let no application begin anything new (R32)."""
        self.used_cores.used |= set(self.cores)
        super().shut_down()


class Cores(dict[WorkerId, Core]):
    """The cores of a simulation; whoever takes one may change it."""

    def __init__(self, cores: dict[WorkerId, Core]) -> None:
        super().__init__(cores)
        self.used = set(cores)

    def __getitem__(self, worker: WorkerId) -> Core:
        self.used.add(worker)
        return super().__getitem__(worker)

    def at_rest(self, worker: WorkerId) -> Core:
        """Give a core that is only looked at."""
        return super().__getitem__(worker)
