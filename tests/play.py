"""Take a run of the model by hand, one labelled step after the other, as the stories and the counterexamples write them."""

from __future__ import annotations

from farref.model.owner import OwnerRRef
from farref.model.rref import RRefModel
from farref.model.rules import SOUND, RRefRules
from farref.model.user import UserRRef
from farref.model.world import Bounds, World


class Play:
    """A world, and the steps taken in it so far."""

    def __init__(self, bounds: Bounds, rules: RRefRules = SOUND) -> None:
        self.model = RRefModel(bounds, rules)
        self.world: World = self.model.initial
        self._actions = {str(action): action for action in self.model.actions}

    def __call__(self, *labels: str) -> Play:
        """Take the steps; each must be possible."""
        for label in labels:
            after = self.model.step(self.world, self._actions[label])
            assert after is not None, f"{label} cannot happen now; what can: {', '.join(self.enabled())}"
            self.world = after
        return self

    def enabled(self) -> list[str]:
        """List what can happen now."""
        return [label for label, action in self._actions.items() if self.model.step(self.world, action) is not None]

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
