"""RRefs beside an implementation: which steps are faults, what must be refused, and what may be left at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from farref.model.actions import Cut, DropMessage, Duplicate, Exclude, FailCall, Mend
from farref.model.ids import worker_name
from farref.model.rref import actions as act
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Call
from farref.model.rref.owner import is_listed
from farref.model.rref.user import Handle
from farref.model.rref.world import Bounds, World
from farref.properties.rref.observation import Observation

FAULTS: Final[dict[str, tuple[type, ...]]] = {
    "reordered": (),  # a message is reordered by what overtakes it
    "duplicated": (Duplicate,),
    "dropped": (DropMessage,),
    "timed_out": (act.AbandonFetch, act.TimeOutCreation),
    "failed": (FailCall,),
    "excluded": (Exclude,),
    "buried": (act.Reclaim,),
    "joined": (act.Join,),
    "cut": (Cut,),
    "mended": (Mend,),
}
NEEDS: Final = {
    "duplicated": "duplicates",
    "dropped": "drops",
    "timed_out": "timeouts",
    "failed": "failures",
    "excluded": "exclusions",
    "buried": "exclusions",
    "joined": "joins",
    "cut": "cuts",
    "mended": "cuts",
}


def forbidden(world: World, bounds: Bounds) -> Iterator[act.Action]:
    """List what an application could try now and must be refused, as one action for each way to try it (R27, R32)."""
    if not world.closing and Handle.TIMED_OUT not in [user.handle for user in world.users]:
        return
    for fork, user in zip(map(ForkId, range(bounds.forks_total)), world.users, strict=True):
        refused = user.handle is Handle.TIMED_OUT or (world.closing and user.handle is Handle.HELD)
        if refused:
            yield act.FetchValue(fork)
            yield act.UserShare(fork, bounds.owner(bounds.rref_of(fork)), Call)
    for rref, owner in enumerate(world.owners):
        if world.closing and owner.held and is_listed(owner):
            yield act.OwnerShare(RRefId(rref), bounds.owner(RRefId(rref)), Call)
        if world.closing and not world.minted[rref] and not is_listed(owner):
            yield act.CreateLocal(RRefId(rref))
            yield act.CreateOnSelf(RRefId(rref))
            yield act.CreateRemote(RRefId(rref), bounds.owner(RRefId(rref + 1)))


def prompt(world: World, bounds: Bounds) -> None:
    """Nothing is done together with the step before: every delivery is a step of its own."""
    del world, bounds


def left(world: World, observation: Observation, bounds: Bounds) -> list[str]:
    """Say what is left where nothing more can happen. What is excluded may keep anything, and what it owns is lost."""
    if not bounds.exclusions:
        return [] if observation.is_empty else ["the tables are not empty"]
    members = {worker_name(who) for who in bounds.worker_ids if not world.views.excluded[who]}
    kept = [one.worker for one in observation.workers if one.worker in members and (one.entries or one.users)]
    return [f"the tables of {worker} are not empty" for worker in kept]
