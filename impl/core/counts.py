"""How much of an owner's table each user takes up, and how much it may (`spec/limits.md`).

What counts a reference cannot be refused, or counts would be wrong. So a user is refused what it asks for when it holds as many
references as it may. An honest one may be some ahead: it was sent references before it could say that it let go of others. One
that holds twice as many goes on in spite of refusals, and its link ends.
"""

from __future__ import annotations

from collections import Counter

from farref.impl.core.here import Here
from farref.impl.core.ids import ForkId, WorkerId
from farref.impl.core.slim import Forks
from farref.impl.errors import LimitReached, WireError
from farref.impl.limits import reached

SETTING = "references_max"


class Counts:
    """The sums of one owner's table, by user."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self.forks: Counter[WorkerId] = Counter()
        """How many forks each user holds, as far as is known here."""

    def count(self, forks: Forks, fork: ForkId, holder: WorkerId) -> None:
        """Count a fork."""
        if forks.get(fork) is None:
            self.forks[holder] += 1
        forks[fork] = holder

    def discount(self, forks: Forks, fork: ForkId) -> bool:
        """Stop counting a fork; say whether it was counted."""
        holder = forks.pop(fork, None)
        if holder is not None:
            self.forks[holder] -= 1
        return holder is not None

    def objection(self, user: WorkerId) -> str | None:
        """Say why a user is given no more, if it holds as much here as it may."""
        limit = self._here.references_max
        if self.forks[user] < limit:
            return None
        return reached(f"worker {user} holds so many references of worker {self._here.me}", SETTING, limit)

    def check_share(self, user: WorkerId) -> None:
        """Refuse to give a user more than it may hold."""
        objection = self.objection(user)
        if objection:
            raise LimitReached(objection)

    def check_room(self, user: WorkerId) -> None:
        """End the link of a user that goes on where it was refused."""
        limit = self._here.references_max
        if self.forks[user] >= 2 * limit:
            raise WireError(reached("it holds twice as many references here as it may", SETTING, limit))
