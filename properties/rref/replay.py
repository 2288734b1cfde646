"""A run taken again, step by step, with what every step received and sent.

The model's steps give worlds, not messages: what was sent is what is in flight after a step and was not before. The world
that a step ends in says where it goes (`model/rref/addressing.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import assert_never

from farref.model.ids import WorkerId
from farref.model.rref.actions import (
    Action,
    CreateRemote,
    Deliver,
    DropMessage,
    Duplicate,
    FailCall,
    OnFork,
    OnMessage,
    OnRRef,
    OwnerShare,
    Retry,
    Shutdown,
    UserShare,
)
from farref.model.rref.addressing import ends, holder, sharer
from farref.model.rref.ids import ForkId, RRefId, worker_name
from farref.model.rref.messages import Message
from farref.model.rref.model import RRefModel
from farref.model.rref.network import is_flying
from farref.model.rref.world import Bounds, World

NETWORK = "network"
EVERYONE = "everyone"


class Fate(Enum):
    """What became of a message."""

    DELIVERED = "delivered"
    DUPLICATED = "duplicated"  # delivered, and still in flight
    DROPPED = "dropped"
    FAILED = "failed"


class ReplayError(Exception):
    """A list of actions is not a run of the model; the message names the first step that cannot be taken."""


@dataclass(frozen=True)
class Parcel:
    """A message with its addresses; the source or target may be the network."""

    message: Message
    source: str
    target: str

    @property
    def listener(self) -> str:
        """The target in a sentence about the source."""
        return "itself" if self.source == self.target else self.target


@dataclass(frozen=True)
class Moment:
    """One step of a run: the world before it and after it, and what went over the network."""

    model: RRefModel
    action: Action
    before: World
    after: World

    @property
    def parcel(self) -> Parcel | None:
        """The message this step is the end of, if it is: received, lost or failed."""
        if isinstance(self.action, Deliver | Duplicate | DropMessage | FailCall):
            return self.address(self.action.message)
        return None

    @property
    def fate(self) -> Fate | None:
        """What this step does to that message."""
        match self.action:
            case Deliver():
                return Fate.DELIVERED
            case Duplicate():
                return Fate.DUPLICATED
            case DropMessage():
                return Fate.DROPPED
            case FailCall():
                return Fate.FAILED
            case _:
                return None

    @property
    def sent(self) -> tuple[Parcel, ...]:
        """The messages that are in flight after this step and were not before."""
        messages = (action.message for action in self.model.actions if isinstance(action, Deliver))
        return tuple(self.address(message) for message in messages if self._sends(message))

    def _sends(self, message: Message) -> bool:
        return is_flying(self.after.network, message) and not is_flying(self.before.network, message)

    @property
    def worker(self) -> str:
        """Who takes this step: a worker, the network, or everyone."""
        match self.action:
            case Deliver(message) | Duplicate(message):
                return self.address(message).target
            case Retry(message):
                return self.address(message).source
            case DropMessage() | FailCall():
                return NETWORK
            case CreateRemote(_, worker):
                return worker_name(worker)
            case OnFork(fork):
                return self.holder(fork)
            case Shutdown():
                return EVERYONE
            case OnRRef(rref):
                return self.owner(rref)
            case _:
                assert_never(self.action)

    @property
    def rref(self) -> RRefId | None:
        """The RRef this step is about, if it is about one."""
        match self.action:
            case Shutdown():
                return None
            case OnRRef(rref):
                return rref
            case OnMessage(message):
                return self.model.bounds.rref_of(message.fork)
            case _:
                return self.model.bounds.rref_of(self.action.fork)

    def owner(self, rref: RRefId) -> str:
        """Name the worker that owns an RRef."""
        return worker_name(self.model.bounds.owner(rref))

    def holder(self, fork: ForkId) -> str:
        """Name the worker a fork is meant for."""
        return worker_name(holder(self.after, fork))

    def sharer(self, fork: ForkId) -> str:
        """Name the worker that made a fork for another one."""
        return worker_name(sharer(self.after, fork, self.model.bounds))

    def address(self, message: Message) -> Parcel:
        """Name the workers that a message comes from and goes to."""
        return address(self.after, self.model.bounds, message)


def address(world: World, bounds: Bounds, message: Message) -> Parcel:
    """Name the workers that a message comes from and goes to."""
    source, target = ends(world, message, bounds)
    return Parcel(message, NETWORK if source is None else worker_name(source), worker_name(target))


def replay(model: RRefModel, actions: Iterable[Action]) -> Iterator[Moment]:
    """Take a run again."""
    world = model.initial
    for number, action in enumerate(actions, start=1):
        after = model.step(world, action)
        if after is None:
            raise ReplayError(f"step {number}, {action}, cannot happen there")
        yield Moment(model, action, world, after)
        world = after


def with_familiar_names(bounds: Bounds, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Rename the workers that own nothing in the order they come in, so that A is the first and C the next.

    They are interchangeable, so the renamed run is a run too, and it reads as PyTorch's note does: A creates on B.
    """
    owners = {bounds.owner(RRefId(rref)) for rref in range(bounds.rrefs)}
    free = [WorkerId(worker) for worker in range(bounds.workers) if worker not in owners]
    names: dict[WorkerId, WorkerId] = {owner: owner for owner in owners}
    renamed: list[Action] = []
    for action in actions:
        match action:
            case CreateRemote(_, worker):
                renamed.append(replace(action, worker=_name_for(worker, names, free)))
            case OwnerShare(_, target) | UserShare(_, target):
                renamed.append(replace(action, target=_name_for(target, names, free)))
            case _:
                renamed.append(action)
    return tuple(renamed)


def _name_for(worker: WorkerId, names: dict[WorkerId, WorkerId], free: list[WorkerId]) -> WorkerId:
    if worker not in names:
        names[worker] = free.pop(0)
    return names[worker]
