"""Views beside the model: the authority is the schedule, and workers are told one by one (R35 to R44).

In the model the authority is no worker, and is told of everything at once. So it is none here either: `AUTHORITY` has no core.
What a worker says to it is heard at once, and answered. The model has no `Excluded`: a zombie is not told here, as that message
may get lost (R38), and so it goes on. Control messages to somebody are lost as soon as their sender excludes it.
"""

from __future__ import annotations

from typing import Final, Protocol, assert_never

from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, Control, Excluded
from farref.impl.core.views import View, ViewSettled
from farref.model.actions import Exclude, Install
from farref.model.rref import actions as act
from farref.properties.twin.backend import Refused

AUTHORITY: Final = WorkerId(1 << 20)


class ViewedNetwork(Protocol):
    """A network whose workers can be told of views."""

    def install(self, worker: WorkerId, view: View) -> None:
        """Let a worker install a view."""

    def bury(self, worker: WorkerId, number: int) -> None:
        """Tell a worker that a view is buried."""


class Authority:
    """What the schedule has decided, and what workers have said to it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.excluded: list[WorkerId] = []
        """In the order of views: view 1 excludes the first, view 2 the first and the second."""
        self.installed: dict[WorkerId, int] = {}
        self.settled: dict[WorkerId, int] = {}
        self.buried = 0

    def view(self, number: int) -> View:
        """Give a view by its number."""
        told = tuple((who, f"worker {who} was excluded") for who in self.excluded[:number])
        return View(number, self.workers, told)

    def lost_to(self, worker: WorkerId) -> set[WorkerId]:
        """List whom a worker has excluded, by what it was told."""
        return {*self.excluded[: self.installed.get(worker, 0)]}

    def take(self, action: act.OnView, network: ViewedNetwork) -> None:
        """Take a step of the model about views."""
        match action:
            case Exclude(worker):
                self.excluded.append(WorkerId(worker))
            case Install(worker):
                self._install(WorkerId(worker), self.installed.get(WorkerId(worker), 0) + 1, network)
            case act.Settle(worker, view):
                self._check_settled(WorkerId(worker), view)
            case act.Bury(view):
                self.buried = view
            case act.Reclaim(worker):
                network.bury(WorkerId(worker), self.buried)
            case act.Join(worker):
                self._install(WorkerId(worker), len(self.excluded), network)
                if self.buried:
                    network.bury(WorkerId(worker), self.buried)
            case _:
                assert_never(action)

    def _install(self, worker: WorkerId, number: int, network: ViewedNetwork) -> None:
        self.installed[worker] = number
        network.install(worker, self.view(number))

    def _check_settled(self, worker: WorkerId, number: int) -> None:
        """Say that a worker has not settled what the model says it may settle, unless a later view is in the way (R39)."""
        if self.settled.get(worker, 0) < number == self.installed[worker]:
            raise Refused(f"worker {worker} holds no heir of view {number}, and has not settled it")


def heard_by_nobody(
    effects: list[Effect], said: dict[WorkerId, int], worker: WorkerId
) -> tuple[list[Effect], list[Ack]]:
    """Leave out what goes to the authority or is a mere notice; give the answers to the former."""
    kept: list[Effect] = []
    answers = []
    for effect in effects:
        match effect:
            case Send(_, Control(incarnation, number, body=ViewSettled(view))):
                said[worker] = view
                answers.append(Ack(incarnation, number))
            case Send(_, Excluded()):
                pass
            case _:
                kept.append(effect)
    return kept, answers
