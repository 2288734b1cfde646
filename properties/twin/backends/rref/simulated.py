"""The implementation's core over its simulated network, in this process (`lockstep.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from farref.impl.core.core import Core
from farref.impl.core.effects import Effect
from farref.impl.core.ids import SequenceNumber, WorkerId
from farref.impl.core.messages import CallFailed, Control
from farref.impl.core.observe import observe
from farref.impl.core.views import View
from farref.impl.simulated.network import InFlight, Simulation
from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds
from farref.properties.rref.observation import Observation
from farref.properties.twin.backends.driven import Driven
from farref.properties.twin.backends.rref.lockstep import Lockstep
from farref.properties.twin.backends.rref.network import Seen
from farref.properties.twin.backends.rref.views import AUTHORITY, Authority, heard_by_nobody


class SimulatedBackend(Driven[Action, Observation]):
    """Several cores in this process; every delivery is chosen by the caller."""

    name = "simulated"
    protocol = "rref"
    excludes = severs = True
    """Whether workers can be excluded here (R35), and links be broken (R36)."""
    lockstep: Lockstep

    def start(self, bounds: Bounds) -> None:
        """Begin with new cores."""
        authority = Authority(bounds.workers) if bounds.exclusions else None
        self.network = SeenSimulation(bounds.workers, authority)
        self.lockstep = Lockstep(self.network, bounds, restless=self.restless, authority=authority)


class SeenSimulation(Simulation):
    """A simulation that knows which workers have done something since anybody looked: the others are as they were."""

    def __init__(self, workers: int, authority: Authority | None = None) -> None:
        super().__init__(workers)
        self.cores = self.used_cores = Cores(self.cores)
        self.authority = authority
        self._waiting: list[InFlight] = []
        """What would arrive at once, and waits on a broken link."""
        for core in self.cores.values() if authority else ():
            core.members.hosted, core.members.authority = None, AUTHORITY
            core.here.workers.add(AUTHORITY)

    def look(self) -> Iterator[Seen]:
        """Look at the workers that have done something since the last look."""
        while self.used_cores.used:
            core = self.used_cores.at_rest(self.used_cores.used.pop())
            yield Seen(observe(core), core.user.parents, core.here.closing)

    def unanswered(self, worker: WorkerId) -> tuple[tuple[WorkerId, SequenceNumber], ...]:
        """List what a worker could retry."""
        waiting = self.used_cores.at_rest(worker).channel.unanswered()
        return tuple((peer, number) for peer, number, _, _ in waiting)

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view. What it had said to those excluded in it, and would say again, is gone (R37)."""
        lost, waiting = {who for who, _ in view.excluded}, self.unanswered(worker)
        for flight in self.in_flight():
            match flight.message:
                case Control(number=number) if flight.source == worker and flight.target in lost:
                    if (flight.target, number) in waiting:
                        self.take(flight.id)
                case _:
                    pass
        self.perform(worker, self.cores[worker].members.install(view))

    def bury(self, worker: WorkerId, number: int) -> None:
        """Tell a worker that a view is buried."""
        self.perform(worker, self.cores[worker].members.bury(number))

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step asks for. What is said to the authority is heard at once (`views.py`)."""
        if self.authority is None:
            super().perform(worker, effects)
            return
        kept, answers = heard_by_nobody(effects, self.authority.settled, worker)
        super().perform(worker, kept)
        for answer in answers:
            super().perform(worker, self.cores[worker].receive(AUTHORITY, answer))
        while (given_up := next(filter(_is_about_no_fork, self.in_flight()), None)) is not None:
            self._let_in(self.take(given_up.id))

    def _let_in(self, flight: InFlight) -> None:
        """Let something arrive at once, or as soon as its link is mended."""
        if self.is_linked(flight.source, flight.target):
            self.arrive(flight)
        else:
            self._waiting.append(flight)

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Connect two workers again, and let arrive what waited and was to arrive at once."""
        super().mend(one, other)
        waiting, self._waiting = self._waiting, []
        for flight in waiting:
            self._let_in(flight)

    def shut_down(self) -> None:
        """Let no application begin anything new (R32)."""
        self.used_cores.used |= set(self.cores)
        super().shut_down()


def _is_about_no_fork(flight: InFlight) -> bool:
    """Say whether it is the answer to a call that waited for an owner which is lost: the model has none (R43)."""
    return isinstance(flight.message, CallFailed) and not flight.message.forks


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
