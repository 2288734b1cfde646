"""A run about a single RRef, retold in the smallest world it can happen in: so all such stories begin as "A creates on B"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from farref.model.actions import OnMessage
from farref.model.rref.actions import Action, OnFork, OnRRef, Shutdown
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds
from farref.properties.twin.rebuilt import rebuilt


def smaller(bounds: Bounds, actions: tuple[Action, ...]) -> Iterator[tuple[Bounds, tuple[Action, ...]]]:
    """Retell a run, if it is about one RRef and not told so yet."""
    retold = Smaller(bounds, actions)
    if retold.is_one_rref and (retold.bounds, retold.actions) != (bounds, actions):
        yield retold.bounds, retold.actions


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
        self.actions = tuple(rebuilt(action, self._renamed) for action in actions)
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
            case "worker" | "target":
                if value not in self.workers:
                    self.workers[value] = self.names[len(self.workers)]
                return self.workers[value]
            case _:
                return value


def _rref(action: Action, bounds: Bounds) -> RRefId | None:
    if isinstance(action, OnRRef):
        return action.rref
    if isinstance(action, OnMessage):
        return bounds.rref_of(action.message.fork)
    return bounds.rref_of(action.fork) if isinstance(action, OnFork) else None
