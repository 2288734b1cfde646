"""Views beside the model of distributed autograd: the schedule is the authority, and workers install one view after the other.

Passes and contexts leave nothing behind that has to be settled or buried (A29), so what workers say about settling is heard by
nobody. Each worker hosts an authority that decides nothing.
"""

from __future__ import annotations

from farref.impl.core.authority import Authority, Order
from farref.impl.core.core import Core
from farref.impl.core.ids import WorkerId
from farref.impl.core.views import View, ViewNumber


class Silent(Authority):
    """An authority that gives no orders: the schedule does."""

    def on_settled(self, worker: WorkerId, number: ViewNumber) -> list[Order]:  # noqa: ARG002
        """Bury nothing."""
        return []

    def members(self) -> tuple[WorkerId, ...]:
        """List those whom advice may be about: nobody (R36)."""
        return ()


def obey_the_schedule(core: Core) -> None:
    """Have a worker take views from the schedule."""
    core.members.hosted, core.members.authority = Silent(len(core.here.workers)), core.me


class Views:
    """Whom the schedule has excluded, and which view each worker has installed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.excluded: list[WorkerId] = []
        """In the order of views: view 1 excludes the first, view 2 the first and the second."""
        self.installed: dict[WorkerId, int] = {}

    def exclude(self, worker: WorkerId) -> None:
        """Issue the next view."""
        self.excluded.append(worker)

    def next_for(self, worker: WorkerId) -> View:
        """Give the next view that a worker installs."""
        number = self.installed[worker] = self.installed.get(worker, 0) + 1
        return View(number, self.workers, tuple((who, _reason(who)) for who in self.excluded[:number]))

    def lost_to(self, worker: WorkerId) -> set[WorkerId]:
        """List whom a worker has excluded."""
        return {*self.excluded[: self.installed.get(worker, 0)]}

    def view_without(self, worker: WorkerId) -> tuple[ViewNumber, str]:
        """Give the number of the view that excludes a worker, and the reason, as it is told of it (R38)."""
        return self.excluded.index(worker) + 1, _reason(worker)


def _reason(worker: WorkerId) -> str:
    return f"worker {worker} was excluded"
