"""RRefs as campaigns see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from farref.model.ids import WorkerId
from farref.model.rref import actions as act
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import Call
from farref.model.rref.owner import is_listed
from farref.model.rref.user import Handle
from farref.model.rref.world import Bounds, World
from farref.properties.protocol import RREF
from farref.properties.rref.candidates import SORTS, Candidates
from farref.properties.rref.limits import complaint
from farref.properties.rref.observation import ModelObserver, Observation, lines
from farref.properties.rref.schedules import draw_schedule
from farref.properties.rref.smaller import smaller
from farref.properties.rref.sometimes import rref_witnesses
from farref.properties.twin.schedule import Exercise

FAULTS: Final[dict[str, tuple[type, ...]]] = {
    "reordered": (),  # a message is reordered by what overtakes it
    "duplicated": (act.Duplicate,),
    "dropped": (act.DropMessage,),
    "timed_out": (act.AbandonFetch, act.TimeOutCreation),
    "failed": (act.FailCall,),
}
NEEDS: Final = {"duplicated": "duplicates", "dropped": "drops", "timed_out": "timeouts", "failed": "failures"}
EVERYTHING: Final = Bounds(drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True)


def forbidden(world: World, bounds: Bounds) -> Iterator[act.Action]:
    """List what an application could try now and must be refused, as one action for each way to try it (R27, R32)."""
    if not world.closing and not any(user.handle is Handle.TIMED_OUT for user in world.users):
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
            yield act.CreateRemote(RRefId(rref), WorkerId((bounds.owner(RRefId(rref)) + 1) % bounds.workers))


def _left(world: World, observation: Observation, bounds: Bounds) -> list[str]:
    del world, bounds
    return [] if observation.is_empty else ["the tables are not empty"]


def _unfit(fixed: dict[str, Any]) -> str | None:
    return complaint(replace(Bounds(rrefs=1, forks=1), **fixed))


RREF_EXERCISE: Final = Exercise(
    about=RREF,
    sorts=SORTS,
    faults=FAULTS,
    needs=NEEDS,
    situations=rref_witnesses,
    every_situation=frozenset(one.id for one in rref_witnesses(EVERYTHING)),
    draw=draw_schedule,
    unfit=_unfit,
    candidates=Candidates,
    observer=ModelObserver,
    lines=lines,
    prompt=lambda world, bounds: None,  # noqa: ARG005
    forbidden=forbidden,
    broken=lambda world, bounds: [],  # noqa: ARG005
    left=_left,
    smaller=smaller,
)
