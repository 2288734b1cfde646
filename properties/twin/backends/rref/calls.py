"""The calls with references that have not ended yet, and what becomes of each: the model has them as messages only.

Whoever is excluded may wait for ever, and so may whoever called it. On a broken link nobody can be told that a call failed.
"""

from __future__ import annotations

from collections.abc import Collection

from farref.impl.core.ids import CallId, WorkerId
from farref.properties.rref.observation import MessageView
from farref.properties.twin.backends.rref.application import Application
from farref.properties.twin.backends.rref.impl_observer import Observed
from farref.properties.twin.backends.rref.names import Names
from farref.properties.twin.backends.rref.traffic import Traffic
from farref.properties.twin.backends.rref.views import Authority

CARRYING = ("Call", "CallFailed")


class Calls:
    """The calls that somebody waits for."""

    def __init__(self, names: Names, application: Application, traffic: Traffic, authority: Authority | None) -> None:
        self.names, self.application, self.traffic, self.authority = names, application, traffic, authority

    def lost(self, observed: Collection[Observed], flying: Collection[MessageView]) -> list[str]:
        """List the calls, each by its fork, that are neither under way, nor parked, nor ended."""
        if not self.application.calls:
            return []
        travelling = {one.fork for one in flying if one.kind in CARRYING}
        parked = {fork for one in observed for fork in one.parked}
        lost = sorted({*self._of_members().values()} - travelling - parked)
        return [f"the call with {fork} neither runs nor fails" for fork in lost]

    def _of_members(self) -> dict[tuple[WorkerId, CallId], str]:
        """List the calls between members whose link is whole, each with its fork."""
        excluded = self.authority.excluded if self.authority else []
        calls = {place: self.names.fork(fork) for place, fork in self.application.calls.items()}
        links = {place: frozenset((place[0], self.names.made[fork].holder)) for place, fork in calls.items()}
        return {
            place: fork
            for place, fork in calls.items()
            if links[place].isdisjoint(excluded) and not self.traffic.is_apart(links[place])
        }
