"""Engines over the simulated network, in this process (`lockstep.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from farref.impl.core.autograd.ids import ForwardId, PassId
from farref.impl.core.autograd.tables import Context
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Excluded
from farref.impl.core.views import View, ViewNumber
from farref.impl.simulated.autograd import AutogradSimulation
from farref.model.autograd.actions import Action
from farref.model.autograd.world import Bounds
from farref.properties.autograd.observation import Observation
from farref.properties.twin.backends.autograd.lockstep import AutogradLockstep
from farref.properties.twin.backends.autograd.seen import WorkerSeen, see
from farref.properties.twin.backends.autograd.tensors import Terms, WorkerTensors
from farref.properties.twin.backends.autograd.views import obey_the_schedule
from farref.properties.twin.backends.driven import Driven

CREATOR = WorkerId(0)


class SimulatedAutograd(Driven[Action, Observation]):
    """Several engines in this process; every delivery is chosen by the caller."""

    name = "simulated"
    protocol = "autograd"
    excludes = severs = True
    """Whether workers can be excluded here, and links be broken (A29)."""

    def start(self, bounds: Bounds) -> None:
        """Begin with new engines."""
        self.network = SeenAutograd(len(bounds.worker_ids), by_views=bounds.exclusions > 0)
        self.lockstep = AutogradLockstep(self.network, bounds, restless=self.restless)


class SeenAutograd(AutogradSimulation):
    """A simulation in which each worker has its tensors, and all work is done within the step that it follows from."""

    def __init__(self, workers: int, *, by_views: bool = False) -> None:
        super().__init__(workers)
        self.by_views = by_views
        for core in self.cores.values() if by_views else ():
            obey_the_schedule(core)
        self.tensors = {worker: WorkerTensors() for worker in self.cores}
        self.context = self.open_context(CREATOR)
        self._pairs: dict[ForwardId, tuple[WorkerId, int]] = {}

    def look(self) -> Iterator[WorkerSeen]:
        """Look at every living worker."""
        for worker, core in self.cores.items():
            yield see(core, self.context, self.tensors[worker])

    def _work_off(self) -> None:
        while self.working:
            self.work(self.workable()[0])

    # The network

    def deliver(self, message_id: int) -> None:
        """Let a message arrive, and what it brings be kept."""
        super().deliver(message_id)
        self._keep()
        self._work_off()

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""
        super().duplicate(message_id)
        self._work_off()

    def deliver_raising(self, message_id: int, pair: int) -> None:
        """Let a gradient arrive, at a pair whose backward rule then raises."""
        target = next(flight.target for flight in self.in_flight() if flight.id == message_id)
        raising = self.tensors[target].raising
        raising.add(pair)
        self.deliver(message_id)
        raising.discard(pair)

    def drop(self, message_id: int) -> None:
        """Lose a message; what goes to the dead is lost too, whatever it is."""
        self.take(message_id)

    def _keep(self) -> None:
        for forward in list(self.received):
            target, pair = self._pairs[forward]
            self.tensors[target].keep(pair, self.received.pop(forward))

    # The application

    def acquaint(self, worker: WorkerId) -> None:
        """Let a worker know the context."""
        self.cores[worker].engine.contexts.setdefault(self.context, Context())

    def send_tensors(
        self, source: WorkerId, target: WorkerId, pair: int, terms: Terms, attached: bool, decoy: bool
    ) -> ForwardId:
        """Let a worker send tensors to another."""
        tensors = self.tensors[source].sent_with(pair, terms, decoy) if attached else []
        forward = self.call(source, target, self.context, tensors, "program")
        self._pairs[forward] = (target, pair)
        return forward

    def begin_pass(self, worker: WorkerId, terms: Terms, seed: int, smart: bool) -> PassId:
        """Let a worker begin a pass. Its tape is kept, as the next pass may use it again."""
        root = self.tensors[worker].computed(terms, seed)
        pass_id = self.backward(worker, self.context, [root], smart, retain=True)
        self._work_off()
        return pass_id

    def time_out(self, pass_id: PassId) -> None:
        """Let the time of a pass be up."""
        super().time_out(pass_id)
        self._work_off()

    def release_context(self) -> None:
        """Let the creator release the context."""
        self.release(CREATOR, self.context)

    def crash(self, worker: WorkerId) -> None:
        """Let a worker do nothing any more."""
        del self.cores[worker]

    def notice(self, worker: WorkerId, dead: WorkerId) -> None:
        """Let a worker hear that another is dead."""
        self.perform(worker, self.cores[worker].peer_died(dead, f"worker {dead} is dead"))
        self._work_off()

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view."""
        self.perform(worker, self.cores[worker].members.install(view))
        self._work_off()

    def fence(self, worker: WorkerId, number: ViewNumber, reason: str) -> None:
        """Let a worker learn that it is excluded, whoever says so."""
        core = self.cores[worker]
        core.members.on_excluded(worker, Excluded(number, reason))
        self.perform(worker, core.taken())
