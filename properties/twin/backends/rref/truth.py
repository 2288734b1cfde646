"""What the applications above an implementation know of their references, by neutral names: the judge believes no table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from farref.impl.core.ids import OwnedReference
from farref.properties.twin.backends.rref.application import Application
from farref.properties.twin.backends.rref.impl_observer import name
from farref.properties.twin.backends.rref.names import Made, Names


class KnowsForks(Protocol):
    """Where every fork is written down by its name."""

    @property
    def made(self) -> Mapping[str, Made]:
        """The forks, as whoever shared them knows them."""


class TruthOfForks:
    """What is known of every fork since it was made."""

    names: KnowsForks

    def rref_of(self, fork: str) -> str | None:
        """Name the RRef that a fork was made of."""
        made = self.names.made.get(fork)
        return None if made is None else made.rref

    def parent_of(self, fork: str) -> str | None:
        """Name the fork that a fork was made from."""
        return self.names.made[fork].parent

    def holder_of(self, fork: str) -> str:
        """Name the worker that a fork is meant for."""
        return name(self.names.made[fork].holder)


@dataclass(frozen=True)
class ApplicationTruth(TruthOfForks):
    """The application's record, with the model's names (`properties/rref/visible.py`)."""

    names: Names
    application: Application

    def computes(self, rref: str) -> bool:
        """Say whether the function runs that computes an RRef's value."""
        return rref in self.names.created and self.names.created[rref][0] in self.application.running

    def holds(self, rref: str) -> bool:
        """Say whether code on the owner holds an RRef."""
        if rref not in self.names.created:
            return False
        found, owner = self.names.created[rref]
        return self.application.handles[owner, OwnedReference(found)] > 0

    def waits(self, rref: str) -> bool:
        """Say whether code on the owner waits for an RRef's value."""
        return rref in self.names.created and self.application.wants(self.names.created[rref][0]) > 0

    def has(self, fork: str) -> bool:
        """Say whether code on the holder of a fork has its handle."""
        made = self.names.made[fork]
        return self.application.handles[made.holder, made.reference] > 0

    def asks(self, fork: str) -> bool:
        """Say whether code on the holder of a fork waits for the value."""
        return any(not abandoned for abandoned in self._asked(fork))

    def gave_up(self, fork: str) -> bool:
        """Say whether code on the holder of a fork asked for the value and gave up, and the answer has not come yet."""
        return any(self._asked(fork))

    def _asked(self, fork: str) -> list[bool]:
        if not self.application.fetches:
            return []
        made = self.names.made[fork]
        return [abandoned for _, abandoned in self.application.asked(made.holder, made.reference.fork)]
