"""A run, retold shorter: without a fork that may not matter, and about a single RRef in the smallest world it can happen in.

So all such stories begin as "A creates on B". Forks are numbered as they are minted: where one is left out, those after it
move up, which leaving out steps alone cannot do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from farref.model.actions import OnLink, OnMessage
from farref.model.ids import WorkerId
from farref.model.rref.actions import Action, CreateRemote, OnFork, OnRRef, OwnerShare, Shutdown, UserShare
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds
from farref.properties.twin.rebuilt import rebuilt


def smaller(bounds: Bounds, actions: tuple[Action, ...]) -> Iterator[tuple[Bounds, tuple[Action, ...]]]:
    """Retell a run: if it is about one RRef, in its smallest world; and without each fork that nothing is made from."""
    retold = Smaller(bounds, actions)
    if retold.is_one_rref and (retold.bounds, retold.actions) != (bounds, actions):
        yield retold.bounds, retold.actions
    yield from ((bounds, fewer) for fewer in _without_a_fork(bounds, actions))


def _without_a_fork(bounds: Bounds, actions: tuple[Action, ...]) -> Iterator[tuple[Action, ...]]:
    """Leave out each share in turn, the last first, with all that is done about its fork."""
    for place, fork in reversed(list(_shares(bounds, actions))):
        about = [number for number, one in enumerate(actions) if number != place and _fork(one) == fork]
        if not any(isinstance(actions[number], UserShare) for number in about):
            rest = [one for number, one in enumerate(actions) if number != place and number not in about]
            yield tuple(rebuilt(one, partial(_moved_up, fork, bounds)) for one in rest)


def _shares(bounds: Bounds, actions: tuple[Action, ...]) -> Iterator[tuple[int, int]]:
    """List the shares of a run, by their places, each with the fork that it mints."""
    minted: Counter[RRefId] = Counter()
    for place, action in enumerate(actions):
        rref = _rref(action, bounds)
        if rref is None or not isinstance(action, CreateRemote | OwnerShare | UserShare):
            continue
        if not isinstance(action, CreateRemote):
            yield place, bounds.creator_fork(rref) + minted[rref]
        minted[rref] += 1


def _moved_up(gone: int, bounds: Bounds, name: str, value: Any) -> Any:
    """Give a fork of the same RRef that was minted after one that is gone the number before."""
    is_later = name == "fork" and value > gone and bounds.rref_of(value) == bounds.rref_of(ForkId(gone))
    return ForkId(value - 1) if is_later else value


def _fork(action: Action) -> int | None:
    if isinstance(action, OnMessage):
        return int(action.message.fork)
    return int(action.fork) if isinstance(action, OnFork) else None


class Smaller:
    """A run about one RRef, retold in the smallest world in which it can happen."""

    def __init__(self, bounds: Bounds, actions: tuple[Action, ...]) -> None:
        rrefs = {rref for action in actions if (rref := _rref(action, bounds)) is not None}
        self.is_one_rref = len(rrefs) == 1
        if not self.is_one_rref:
            return
        [self.rref] = rrefs
        self.first_fork = bounds.creator_fork(self.rref)
        self.names = bounds.worker_ids
        self.workers = {bounds.owner(self.rref): self.names[0]}
        self.actions = tuple(_in_order(rebuilt(action, self._renamed), self.names) for action in actions)
        self.bounds = replace(
            bounds,
            workers=max(2, len(self.workers)),
            rrefs=1,
            shutdown=any(isinstance(one, Shutdown) for one in actions),
        )

    def _renamed(self, name: str, value: Any) -> Any:
        """Rename what an action or a message is about."""
        match name:
            case "rref":
                return RRefId(0)
            case "fork":
                return ForkId(value - self.first_fork)
            case "worker" | "target" | "one" | "other":
                if value not in self.workers:
                    self.workers[value] = self.names[len(self.workers)]
                return self.workers[value]
            case _:
                return value


def _in_order(action: Action, names: list[WorkerId]) -> Action:
    """Name the ends of a link in the order in which a model does."""
    if not isinstance(action, OnLink):
        return action
    return type(action)(*sorted((action.one, action.other), key=names.index))


def _rref(action: Action, bounds: Bounds) -> RRefId | None:
    if isinstance(action, OnRRef):
        return action.rref
    if isinstance(action, OnMessage):
        return bounds.rref_of(action.message.fork)
    return bounds.rref_of(action.fork) if isinstance(action, OnFork) else None
