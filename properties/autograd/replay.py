"""A run of distributed autograd taken again, step by step, with what every step received and sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from farref.model.autograd import actions as act
from farref.model.autograd import messages as msg
from farref.model.autograd.addressing import ends
from farref.model.autograd.graphs import Graph
from farref.model.autograd.ids import CREATOR, PassId, worker_name
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.network import is_flying
from farref.model.autograd.world import World, graph_of, root_of
from farref.model.ids import WorkerId
from farref.properties.rref.replay import EVERYONE, NETWORK, Fate, ReplayError


@dataclass(frozen=True)
class Parcel:
    """A message with its addresses."""

    message: msg.Message
    source: str
    target: str


@dataclass(frozen=True)
class Moment:
    """One step of a run: the world before it and after it, and what went over the network."""

    model: AutogradModel
    action: act.Action
    before: World
    after: World

    @property
    def graph(self) -> Graph:
        """What was recorded."""
        return graph_of(self.after, self.model.bounds)

    @property
    def parcel(self) -> Parcel | None:
        """The message this step is the end of, if it is: received, lost or failed."""
        if isinstance(self.action, act.OnMessage) and not isinstance(self.action, act.Retry):
            return self.address(self.action.message)
        return None

    @property
    def fate(self) -> Fate | None:
        """What this step does to that message."""
        match self.action:
            case act.Deliver() | act.Raise():
                return Fate.DELIVERED
            case act.Duplicate():
                return Fate.DUPLICATED
            case act.DropMessage():
                return Fate.DROPPED
            case act.FailCall():
                return Fate.FAILED
            case _:
                return None

    @property
    def sent(self) -> tuple[Parcel, ...]:
        """The messages that are in flight after this step and were not before."""
        return tuple(
            self.address(message)
            for message, place in self.model.bounds.places.items()
            if is_flying(self.after.network, place) and not is_flying(self.before.network, place)
        )

    @property
    def worker(self) -> str:
        """Who takes this step: a worker, the network, or everyone."""
        match self.action:
            case act.Choose():
                return EVERYONE
            case act.OnPair(pair):
                return worker_name(self.graph.pairs[pair].source)
            case act.Backward(worker):
                return worker_name(worker)
            case act.TimeOut(number):
                return self.root(number)
            case act.ReleaseContext():
                return worker_name(CREATOR)
            case act.Crash(worker) | act.Notice(worker):
                return worker_name(worker)
            case act.DropMessage() | act.FailCall():
                return NETWORK
            case act.Retry(message):
                return self.address(message).source
            case act.Deliver(message) | act.Duplicate(message) | act.Raise(message):
                return self.address(message).target
            case _:
                assert_never(self.action)

    def root(self, number: PassId) -> str:
        """Name the root of a pass."""
        return worker_name(root_of(self.after, number))

    def address(self, message: msg.Message) -> Parcel:
        """Name the workers that a message comes from and goes to."""
        source, target = ends(self.after, message, self.model.bounds)
        return Parcel(message, worker_name(source), worker_name(target))


def replay(model: AutogradModel, actions: Iterable[act.Action]) -> Iterator[Moment]:
    """Take a run again."""
    world = model.initial
    for number, action in enumerate(actions, start=1):
        after = model.step(world, action)
        if after is None:
            raise ReplayError(f"step {number}, {action}, cannot happen there")
        yield Moment(model, action, world, after)
        world = after


def worker_ids(moment: Moment) -> list[WorkerId]:
    """List the workers."""
    return moment.model.bounds.worker_ids
