"""Engines as they are, in real workers in processes of their own, held still between two steps (`lockstep.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.impl.core.autograd.effects import PassEnded
from farref.impl.core.autograd.ids import ForwardId, PassId
from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Excluded
from farref.impl.core.views import View, ViewNumber
from farref.model.autograd.actions import Action
from farref.model.autograd.world import Bounds
from farref.properties.autograd.observation import Observation
from farref.properties.twin.backends.autograd.driven_application import DrivenAutograd
from farref.properties.twin.backends.autograd.lockstep import AutogradLockstep
from farref.properties.twin.backends.autograd.seen import WorkerSeen
from farref.properties.twin.backends.autograd.tensors import Terms
from farref.properties.twin.backends.driven import DrivenProcesses
from farref.properties.twin.backends.pool import Pool, Prepare
from farref.properties.twin.backends.severed_network import SeveredNetwork

CREATOR: Final = WorkerId(0)


class AutogradProcesses(DrivenProcesses[Bounds, Action, Observation, DrivenAutograd]):
    """Real workers; every delivery is chosen by the caller."""

    protocol = "autograd"
    excludes = severs = True
    """Whether workers can be excluded here, and links be broken (A29)."""

    def __init__(self, *, restless: bool = False, prepare: Prepare | None = None) -> None:
        super().__init__(DrivenAutograd, restless=restless, prepare=prepare)

    def _begin(self, bounds: Bounds) -> AutogradLockstep:
        workers = len(bounds.worker_ids)
        self.network = AutogradProcessNetwork(self._pool(workers), workers, by_views=bounds.exclusions > 0)
        return AutogradLockstep(self.network, bounds, restless=self.restless)


class AutogradProcessNetwork(SeveredNetwork[DrivenAutograd, WorkerSeen]):
    """The first workers of a pool, a context of the first of them, and every message between them."""

    def __init__(self, pool: Pool[DrivenAutograd], workers: int, *, by_views: bool) -> None:
        super().__init__(pool, workers)
        self.ended: dict[PassId, PassEnded] = {}
        self._dead: set[WorkerId] = set()
        for rank in self._ranks:
            self._ask(rank, DrivenAutograd.enter_world, workers, by_views)
        self.context = self._ask(CREATOR, DrivenAutograd.open_context)
        for rank in self._ranks:
            self._ask(rank, DrivenAutograd.enter, self.context)

    def look(self) -> Iterator[WorkerSeen]:
        """Look at the living workers that have taken a step since the last look."""
        return (seen for seen in super().look() if seen.worker not in self._dead)

    def _hear(self, worker: WorkerId, effect: Effect) -> None:
        if isinstance(effect, Send) and isinstance(effect.message, Excluded):
            return  # it gets lost: an excluded worker is told so by the schedule (R38)
        super()._hear(worker, effect)
        if isinstance(effect, PassEnded):
            self.ended[effect.pass_id] = effect

    def deliver_raising(self, message_id: int, pair: int) -> None:
        """Let a gradient arrive, at a pair whose backward rule then raises."""
        self._let_come(message_id)
        flight = self._flying.pop(message_id)
        self._ask(flight.target, DrivenAutograd.deliver_raising, flight.source, flight.message, pair)

    def acquaint(self, worker: WorkerId) -> None:
        """Let a worker know the context."""
        self._ask(worker, DrivenAutograd.acquaint)

    def send_tensors(
        self, source: WorkerId, target: WorkerId, pair: int, terms: Terms, attached: bool, decoy: bool
    ) -> ForwardId:
        """Let a worker send tensors to another."""
        return self._ask(source, DrivenAutograd.send_tensors, target, pair, terms, attached, decoy)

    def begin_pass(self, worker: WorkerId, terms: Terms, seed: int, smart: bool) -> PassId:
        """Let a worker begin a pass."""
        return self._ask(worker, DrivenAutograd.begin_pass, terms, seed, smart)

    def time_out(self, pass_id: PassId) -> None:
        """Let the time of a pass be up."""
        self._ask(pass_id.root, DrivenAutograd.time_out, pass_id)

    def release_context(self) -> None:
        """Let the creator release the context."""
        self._ask(CREATOR, DrivenAutograd.release_context)

    def crash(self, worker: WorkerId) -> None:
        """Let a worker do nothing any more; its process is needed for the next run."""
        self._repair(worker)
        self._dead.add(worker)

    def notice(self, worker: WorkerId, dead: WorkerId) -> None:
        """Let a worker hear that another is dead."""
        self._repair(worker)
        self._ask(worker, DrivenAutograd.notice, dead)

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view."""
        self._repair(worker)
        self._ask(worker, DrivenAutograd.install, view)

    def fence(self, worker: WorkerId, number: ViewNumber, reason: str) -> None:
        """Let a worker learn that it is excluded."""
        self._repair(worker)
        self._ask(worker, DrivenAutograd.fence, number, reason)
