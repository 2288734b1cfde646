"""The moments of a run of distributed autograd."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, assert_never

from farref.model.actions import Exclude, OnLink, OnMember, OnMessage
from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.addressing import ends
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, PassId
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.network import is_flying
from farref.model.autograd.world import Bounds, World, graph_of, root_of
from farref.model.ids import WorkerId, worker_name
from farref.properties.traces.replay import AUTHORITY, EVERYONE, Fate, Moment


class AutogradMoment(Moment[AutogradModel, World, act.Action, msg.Message]):
    """One step of a run of distributed autograd."""

    fates: ClassVar = {**Moment.fates, act.Raise: Fate.DELIVERED}

    def in_flight(self, world: World) -> Iterable[msg.Message]:
        """List the messages that are under way in a world."""
        places = self.model.bounds.places.items()
        return (message for message, place in places if is_flying(world.network, place))

    def ends(self, message: msg.Message) -> tuple[WorkerId, WorkerId]:
        """Say which worker a message comes from, and which it goes to."""
        return ends(self.after, message, self.model.bounds)

    @property
    def actor(self) -> str:
        """Who takes this step, where no message ends with it."""
        match self.action:
            case act.Choose():
                return EVERYONE
            case act.OnPair(pair):
                return worker_name(self.graph.pairs[pair].source)
            case Exclude():
                return AUTHORITY
            case act.Backward(worker) | act.Crash(worker) | act.Notice(worker) | OnMember(worker):
                return worker_name(worker)
            case OnLink(one):
                return worker_name(one)
            case act.TimeOut(number):
                return self.root(number)
            case act.ReleaseContext():
                return worker_name(CREATOR)
            case OnMessage(message):
                return self.address(message).source
            case _:
                assert_never(self.action)

    @property
    def graph(self) -> Graph:
        """What was recorded."""
        return graph_of(self.after, self.model.bounds)

    def root(self, number: PassId) -> str:
        """Name the root of a pass."""
        return worker_name(root_of(self.after, number))


def familiar(bounds: Bounds, actions: Iterable[act.Action]) -> tuple[act.Action, ...]:
    """Give a run as it is: in a graph every worker has its own place, so its name says something."""
    del bounds
    return tuple(actions)
