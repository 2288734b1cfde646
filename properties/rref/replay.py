"""The moments of a run of the RRef protocol, and the names that its workers are told by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from farref.model.actions import Deliver, Exclude, OnLink, OnMember, OnMessage
from farref.model.ids import WorkerId, worker_name
from farref.model.rref.actions import Action, Bury, CreateRemote, OnFork, OnRRef, OwnerShare, Shutdown, UserShare
from farref.model.rref.addressing import ends, holder, sharer
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Message
from farref.model.rref.model import RRefModel
from farref.model.rref.network import is_flying
from farref.model.rref.world import Bounds, World
from farref.properties.traces.replay import AUTHORITY, EVERYONE, Moment


class RRefMoment(Moment[RRefModel, World, Action, Message]):
    """One step of a run of the RRef protocol."""

    def in_flight(self, world: World) -> Iterable[Message]:
        """List the messages that are under way in a world."""
        messages = (action.message for action in self.model.actions if isinstance(action, Deliver))
        return (message for message in messages if is_flying(world.network, message))

    def ends(self, message: Message) -> tuple[WorkerId | None, WorkerId]:
        """Say which worker a message comes from, None for the network, and which it goes to."""
        return ends(self.after, message, self.model.bounds)

    @property
    def actor(self) -> str:
        """Who takes this step, where no message ends with it."""
        match self.action:
            case CreateRemote(_, worker):
                return worker_name(worker)
            case OnFork(fork):
                return self.holder(fork)
            case OnRRef(rref):
                return self.owner(rref)
            case Shutdown():
                return EVERYONE
            case OnLink(one):
                return worker_name(one)
            case Exclude() | Bury():
                return AUTHORITY
            case OnMember(worker):
                return worker_name(worker)
            case OnMessage(message):
                return self.address(message).source
            case _:
                assert_never(self.action)

    @property
    def rref(self) -> RRefId | None:
        """The RRef this step is about, if it is about one."""
        match self.action:
            case Shutdown() | OnLink() | Bury() | OnMember():
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


def familiar(bounds: Bounds, actions: Iterable[Action]) -> tuple[Action, ...]:
    """Rename the workers that own nothing in the order they come in, so that A is the first and C the next.

    They are interchangeable, so the renamed run is a run too, and it reads as PyTorch's note does: A creates on B.
    """
    fixed = {*bounds.owning, *bounds.latecomers}
    free = [worker for worker in bounds.worker_ids if worker not in fixed]
    names: dict[WorkerId, WorkerId] = {worker: worker for worker in fixed}
    renamed: list[Action] = []
    for action in actions:
        match action:
            case CreateRemote(_, worker):
                renamed.append(replace(action, worker=_name_for(worker, names, free)))
            case OwnerShare(_, target) | UserShare(_, target):
                renamed.append(replace(action, target=_name_for(target, names, free)))
            case OnMember(worker):
                renamed.append(replace(action, worker=_name_for(worker, names, free)))
            case OnLink(one, other):
                both = (_name_for(one, names, free), _name_for(other, names, free))
                renamed.append(type(action)(*sorted(both, key=bounds.worker_ids.index)))
            case _:
                renamed.append(action)
    return tuple(renamed)


def _name_for(worker: WorkerId, names: dict[WorkerId, WorkerId], free: list[WorkerId]) -> WorkerId:
    if worker not in names:
        names[worker] = free.pop(0)
    return names[worker]
