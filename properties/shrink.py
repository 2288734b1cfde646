"""Make the run of a disagreement shorter: leave steps out as long as model and backend still disagree.

Steps that cannot happen without the ones left out are left out too. Large pieces are tried first, then single steps, until no
step can be spared. If a single RRef is left, its world is made as small as it can be, so that the story is told as all are: A
creates on B. What remains is not always a shortest run, and always a real one: it was taken.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, Final

from farref.model.actions import Action, OnFork, OnMessage, OnRRef, Shutdown
from farref.model.ids import ForkId, RRefId, WorkerId
from farref.model.world import Bounds
from farref.properties.backends.backend import Backend
from farref.properties.twin import Disagreement, Twin

SECONDS_MAX: Final = 20.0


def shrink(found: Disagreement, backend: Backend, *, seconds_max: float = SECONDS_MAX) -> Disagreement:
    """Find a shorter run that ends in a disagreement."""
    shortest, size, deadline = found, max(1, len(found.actions) // 2), time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        shorter = _without_a_piece(shortest, size, backend)
        if shorter is not None:
            shortest = shorter
        elif size == 1:
            break
        else:
            size //= 2
    smaller = Smaller(shortest.bounds, shortest.actions)
    retold = disagrees(smaller.bounds, backend, smaller.actions) if smaller.is_one_rref else None
    return retold if retold is not None and len(retold.actions) <= len(shortest.actions) else shortest


def _without_a_piece(found: Disagreement, size: int, backend: Backend) -> Disagreement | None:
    """Leave out each piece of some size in turn, the last first: what happens late matters least to the rest."""
    actions = found.actions
    for end in range(len(actions), 0, -size):
        rest = (*actions[: max(0, end - size)], *actions[end:])
        again = disagrees(found.bounds, backend, rest)
        if again is not None and len(again.actions) < len(actions):
            return again
    return None


def disagrees(bounds: Bounds, backend: Backend, actions: Iterable[Action]) -> Disagreement | None:
    """Take those of some steps that can happen, one after the other, and give the disagreement they lead to, if any."""
    try:
        twin = Twin(bounds, backend)
        for action in actions:
            if twin.can(action):
                twin.step(action)
    except Disagreement as disagreement:
        return disagreement
    return None


class Smaller:
    """A run about one RRef, retold in the smallest world in which it can happen."""

    def __init__(self, bounds: Bounds, actions: tuple[Action, ...]) -> None:
        rrefs = {rref for action in actions if (rref := _rref(action, bounds)) is not None}
        self.is_one_rref = len(rrefs) == 1
        if not self.is_one_rref:
            return
        [self.rref] = rrefs
        self.first_fork = bounds.creator_fork(self.rref)
        self.workers = {bounds.owner(self.rref): WorkerId(0)}
        self.actions = tuple(map(self._renamed, actions))
        self.bounds = replace(
            bounds,
            workers=max(2, len(self.workers)),
            rrefs=1,
            shutdown=any(isinstance(one, Shutdown) for one in actions),
        )

    def _renamed(self, action: Any) -> Any:
        """Rename all that an action or a message is about."""
        changed: dict[str, Any] = {}
        for field in fields(action):
            value = getattr(action, field.name)
            match field.name:
                case "rref":
                    changed["rref"] = RRefId(0)
                case "fork":
                    changed["fork"] = ForkId(value - self.first_fork)
                case "worker" | "target":
                    changed[field.name] = self.workers.setdefault(value, WorkerId(len(self.workers)))
                case "message" | "of":
                    changed[field.name] = self._renamed(value)
                case _:
                    pass
        return replace(action, **changed)


def _rref(action: Action, bounds: Bounds) -> RRefId | None:
    if isinstance(action, OnRRef):
        return action.rref
    if isinstance(action, OnMessage):
        return bounds.rref_of(action.message.fork)
    return bounds.rref_of(action.fork) if isinstance(action, OnFork) else None
