"""What backends have in common that are driven by a lockstep: in this process, or in a pool of real ones."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final, Generic, Protocol, TypeVar

from farref.properties.twin.backends.pool import AnyDriven, Pool, Prepare, WorkerCrashed

POOL_SIZE: Final = 4

AnyAction = TypeVar("AnyAction", contravariant=True)
AnyBounds = TypeVar("AnyBounds", contravariant=True)
AnyObservation = TypeVar("AnyObservation", covariant=True)


class Steps(Protocol[AnyAction, AnyObservation]):
    """A lockstep: it takes the model's actions, and looks at what came of them."""

    @property
    def truth(self) -> Any:
        """What the applications know, whatever the tables say."""

    def perform(self, action: AnyAction) -> None:
        """Take a step."""

    def attempt(self, action: AnyAction) -> bool:
        """Let the application try something."""

    def observe(self) -> AnyObservation:
        """Look at every worker and at the network."""


class Driven(Generic[AnyAction, AnyObservation]):
    """A backend whose steps a lockstep takes. Nothing outside this process is started."""

    lockstep: Steps[AnyAction, AnyObservation]

    def __init__(self, *, restless: bool = False) -> None:
        self.restless = restless

    @property
    def truth(self) -> Any:
        """What the applications know, whatever the tables say."""
        return self.lockstep.truth

    def perform(self, action: AnyAction) -> None:
        """Take a step."""
        self.lockstep.perform(action)

    def attempt(self, action: AnyAction) -> bool:
        """Let the application try to begin something."""
        return self.lockstep.attempt(action)

    def observe(self) -> AnyObservation:
        """Look at every worker and at the network."""
        return self.lockstep.observe()

    def close(self) -> None:
        """Give back what was started: nothing."""


class DrivenProcesses(Driven[AnyAction, AnyObservation], Generic[AnyBounds, AnyAction, AnyObservation, AnyDriven]):
    """The same over real workers, which are started once and begin a new life with each run."""

    name = "processes"

    def __init__(self, driven: type[AnyDriven], *, restless: bool = False, prepare: Prepare | None = None) -> None:
        super().__init__(restless=restless)
        self.prepare, self._driven = prepare, driven
        self.pool: Pool[AnyDriven] | None = None

    def start(self, bounds: AnyBounds) -> None:
        """Let the workers begin a new life; start new ones if there are too few, or if one of them is in no state to."""
        try:
            self.lockstep = self._begin(bounds)
        except WorkerCrashed:
            self.close()
            self.lockstep = self._begin(bounds)

    @abstractmethod
    def _begin(self, bounds: AnyBounds) -> Steps[AnyAction, AnyObservation]:
        """Begin a run over the pool."""

    def close(self) -> None:
        """Let the processes end."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def _pool(self, workers: int) -> Pool[AnyDriven]:
        if self.pool is not None and self.pool.size < workers:
            self.close()
        if self.pool is None:
            self.pool = Pool(max(POOL_SIZE, workers), self.prepare, self._driven)
        return self.pool
