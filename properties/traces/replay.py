"""A run taken again, step by step, with what every step received and sent.

The model's steps give worlds, not messages: what was sent is what is in flight after a step and was not before. Each protocol
says what is in flight in its worlds, who the two ends of a message are, and who takes the other steps: `rref/replay.py`
and `autograd/replay.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from farref.model.actions import Deliver, DropMessage, Duplicate, FailCall
from farref.model.checker.interface import Model
from farref.model.ids import WorkerId, worker_name

NETWORK = "network"
EVERYONE = "everyone"
AUTHORITY = "authority"

AnyModel = TypeVar("AnyModel", bound=Model)
AnyWorld = TypeVar("AnyWorld")
AnyAction = TypeVar("AnyAction")
AnyMessage = TypeVar("AnyMessage")


class Fate(Enum):
    """What became of a message."""

    DELIVERED = "delivered"
    DUPLICATED = "duplicated"  # delivered, and still in flight
    DROPPED = "dropped"
    FAILED = "failed"


class ReplayError(Exception):
    """A list of actions is not a run of the model; the message names the first step that cannot be taken."""


@dataclass(frozen=True)
class Addressed(Generic[AnyMessage]):
    """A message with the names of its two ends; the source may be the network."""

    message: AnyMessage
    source: str
    target: str

    @property
    def listener(self) -> str:
        """The target in a sentence about the source."""
        return "itself" if self.source == self.target else self.target


@dataclass(frozen=True)
class Moment(ABC, Generic[AnyModel, AnyWorld, AnyAction, AnyMessage]):
    """One step of a run: the world before it and after it, and what went over the network."""

    model: AnyModel
    action: AnyAction
    before: AnyWorld
    after: AnyWorld

    fates: ClassVar[Mapping[type, Fate]] = {
        Deliver: Fate.DELIVERED,
        Duplicate: Fate.DUPLICATED,
        DropMessage: Fate.DROPPED,
        FailCall: Fate.FAILED,
    }
    """The actions that a message ends with, and what becomes of it then."""

    @abstractmethod
    def in_flight(self, world: AnyWorld) -> Iterable[AnyMessage]:
        """List the messages that are under way in a world."""

    @abstractmethod
    def ends(self, message: AnyMessage) -> tuple[WorkerId | None, WorkerId]:
        """Say which worker a message comes from, None for the network, and which it goes to."""

    @property
    @abstractmethod
    def actor(self) -> str:
        """Who takes this step, where no message ends with it: a worker, the authority, or everyone."""

    @property
    def fate(self) -> Fate | None:
        """What becomes of the message that ends with this step, if one does."""
        return self.fates.get(type(self.action))

    @property
    def ended(self) -> Addressed[AnyMessage] | None:
        """The message that ends with this step, if one does: received, lost or failed."""
        action: Any = self.action
        return None if self.fate is None else self.address(action.message)

    @property
    def sent(self) -> tuple[Addressed[AnyMessage], ...]:
        """The messages that are in flight after this step and were not before."""
        before = {*self.in_flight(self.before)}
        return tuple(self.address(message) for message in self.in_flight(self.after) if message not in before)

    @property
    def worker(self) -> str:
        """Who takes this step: a worker, the network, or everyone."""
        if self.ended is None:
            return self.actor
        return NETWORK if self.fate in (Fate.DROPPED, Fate.FAILED) else self.ended.target

    def address(self, message: AnyMessage) -> Addressed[AnyMessage]:
        """Name the workers that a message comes from and goes to."""
        source, target = self.ends(message)
        return Addressed(message, NETWORK if source is None else worker_name(source), worker_name(target))


AnyMoment = TypeVar("AnyMoment", bound=Moment[Any, Any, Any, Any])


def replay(
    kind: Callable[[Any, Any, Any, Any], AnyMoment], model: Model, actions: Iterable[Any]
) -> Iterator[AnyMoment]:
    """Take a run again, as moments of some kind."""
    world = model.initial
    for number, action in enumerate(actions, start=1):
        after = model.step(world, action)
        if after is None:
            raise ReplayError(f"step {number}, {action}, cannot happen there")
        yield kind(model, action, world, after)
        world = after


def beginning(model: Model, actions: Iterable[Any]) -> tuple[Any, ...]:
    """Give the longest beginning of a run that can happen in a model."""
    world, taken = model.initial, list[Any]()
    for action in actions:
        world = model.step(world, action)
        if world is None:
            break
        taken.append(action)
    return tuple(taken)
