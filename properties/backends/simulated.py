"""The implementation's core over its simulated network, in this process (`lockstep.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from farref.impl.core import Core
from farref.impl.ids import WorkerId
from farref.impl.simulated import Simulation
from farref.impl.tables import observe
from farref.model.actions import Action
from farref.model.world import Bounds
from farref.properties.backends.lockstep import Lockstep
from farref.properties.backends.network import Seen
from farref.properties.observation import Observation


class SimulatedBackend:
    """Several cores in this process; every delivery is chosen by the caller."""

    name = "simulated"

    def __init__(self, *, restless: bool = False) -> None:
        self.restless = restless

    def start(self, bounds: Bounds) -> None:
        """Begin with new cores."""
        self.network = SeenSimulation(bounds.workers)
        self.lockstep = Lockstep(self.network, bounds, restless=self.restless)

    def perform(self, action: Action) -> None:
        """Take a step."""
        self.lockstep.perform(action)

    def attempt(self, action: Action) -> bool:
        """Let the application try to begin something."""
        return self.lockstep.attempt(action)

    def observe(self) -> Observation:
        """Look at every worker and at the network."""
        return self.lockstep.observe()

    def close(self) -> None:
        """Nothing outside this process was started."""


class SeenSimulation(Simulation):
    """A simulation that knows which workers have done something since anybody looked: the others are as they were."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.cores = self.used_cores = Cores(self.cores)

    def look(self) -> Iterator[Seen]:
        """Look at the workers that have done something since the last look."""
        while self.used_cores.used:
            core = self.used_cores.at_rest(self.used_cores.used.pop())
            yield Seen(observe(core), core.user.parents, core.closing)

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
