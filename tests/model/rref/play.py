"""Take a run of the RRef protocol by hand."""

from __future__ import annotations

from farref.model.rref.model import RRefModel
from farref.model.rref.owner import OwnerRRef
from farref.model.rref.rules import SOUND, RRefRules
from farref.model.rref.user import UserRRef
from farref.model.rref.world import Bounds, World
from tests.model import play


class Play(play.Play[RRefModel]):
    """A world of references, and the steps taken in it so far."""

    world: World

    def __init__(self, bounds: Bounds, rules: RRefRules = SOUND) -> None:
        super().__init__(RRefModel(bounds, rules))

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
