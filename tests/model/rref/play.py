"""Take a run of a model: by hand, one labelled step after the other, as the stories write them, or as an engine found it."""

from __future__ import annotations

from collections.abc import Iterable

from farref.model.checker.interface import Action, Model, State
from farref.model.rref.model import RRefModel
from farref.model.rref.owner import OwnerRRef
from farref.model.rref.rules import SOUND, RRefRules
from farref.model.rref.user import UserRRef
from farref.model.rref.world import Bounds, World


def states(model: Model, actions: Iterable[Action]) -> list[State]:
    """Take the actions; each must be possible. Give all states on the way, the initial one first."""
    found = [model.initial]
    for action in actions:
        found.append(model.step(found[-1], action))
        assert found[-1] is not None, f"{action} cannot happen there"
    return found


def named(model: Model, *labels: str) -> list[Action]:
    """Find the actions with these labels."""
    known = {str(action): action for action in model.actions}
    return [known[label] for label in labels]


class Play:
    """A world, and the steps taken in it so far."""

    def __init__(self, bounds: Bounds, rules: RRefRules = SOUND) -> None:
        self.model = RRefModel(bounds, rules)
        self.world: World = self.model.initial

    def __call__(self, *labels: str) -> Play:
        """Take the steps; each must be possible."""
        for label, action in zip(labels, named(self.model, *labels), strict=True):
            after = self.model.step(self.world, action)
            assert after is not None, f"{label} cannot happen now; what can: {', '.join(self.enabled())}"
            self.world = after
        return self

    def enabled(self) -> list[str]:
        """List what can happen now."""
        return [str(action) for action in self.model.actions if self.model.step(self.world, action) is not None]

    def finish(self) -> Play:
        """Take possible steps, the first one listed each time, until nothing can happen any more."""
        while enabled := self.enabled():
            self(enabled[0])
        return self

    @property
    def owner(self) -> OwnerRRef:
        """The owner's record of the first RRef."""
        return self.world.owners[0]

    def user(self, fork: int) -> UserRRef:
        """The record of one fork's user."""
        return self.world.users[fork]

    @property
    def counted(self) -> list[int]:
        """The forks the owner of the first RRef counts."""
        return list(self.owner.forks.members())
