"""The messages under way in an implementation, under the names that the model has for them.

The model lets a failed call travel back as a message of the network, and until it arrives nobody knows. So a flight that has
failed is still under way here, under its other name.
"""

from __future__ import annotations

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import CallFailed, Control
from farref.impl.simulated.network import InFlight
from farref.model.messages import kind_of
from farref.model.rref import messages as msg
from farref.properties.rref.observation import MessageView
from farref.properties.traces.replay import NETWORK
from farref.properties.twin.backend import Refused
from farref.properties.twin.backends.rref.impl_observer import name
from farref.properties.twin.backends.rref.names import Key, Names
from farref.properties.twin.backends.rref.network import Network


class Traffic:
    """Finds and names what is under way."""

    def __init__(self, network: Network, names: Names) -> None:
        self.network, self.names = network, names
        self.failed: dict[int, InFlight] = {}  # by flight: calls that will not arrive, which nobody has been told yet
        self._apart: set[frozenset[WorkerId]] = set()  # the links that are broken
        self._keys: dict[int, Key] = {}  # by flight
        self._views: dict[tuple[int, bool], MessageView] = {}  # by flight, and whether it has failed

    def flights(self, message: msg.Message) -> list[InFlight]:
        """Find the copies of a message that are under way."""
        wanted = model_key(message)
        found = [one for one in self.network.in_flight() if one.id not in self.failed and self.key(one) == wanted]
        if not found:
            raise Refused(f"{message} is not under way")
        return found

    def failed_flight(self, message: msg.Message) -> InFlight | None:
        """Find the failed flight that a report of the model's network is about."""
        wanted = model_key(message)
        return next((flight for flight in self.failed.values() if self._report(flight) == wanted), None)

    def copies(self, flight: InFlight) -> int:
        """Count the copies of a control message that are under way."""
        wanted = self.key(flight)
        return sum(isinstance(one.message, Control) and self.key(one) == wanted for one in self.network.in_flight())

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Break a link."""
        self.network.cut(one, other)
        self._apart.add(frozenset((one, other)))

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Mend a link."""
        self.network.mend(one, other)
        self._apart.discard(frozenset((one, other)))

    def waits(self, flight: InFlight) -> bool:
        """Say whether a message is on a broken link."""
        return self.is_apart(frozenset((flight.source, flight.target)))

    def is_apart(self, ends: frozenset[WorkerId]) -> bool:
        """Say whether a link is broken."""
        return ends in self._apart

    def key(self, flight: InFlight) -> Key:
        """Name a flight as the model does."""
        key = self._keys.get(flight.id)
        if key is None:
            key = self._keys[flight.id] = self.names.key(flight.source, flight.target, flight.message)
        return key

    def views(self) -> set[MessageView]:
        """See everything that is under way."""
        return {self._view(flight) for flight in self.network.in_flight()}

    def _view(self, flight: InFlight) -> MessageView:
        place = (flight.id, flight.id in self.failed)
        view = self._views.get(place)
        if view is None:
            view = self._views[place] = self._seen(flight)
        return view

    def _seen(self, flight: InFlight) -> MessageView:
        if flight.id in self.failed:
            return MessageView(*self._report(flight), NETWORK, name(flight.source))
        source = NETWORK if isinstance(flight.message, CallFailed) else name(flight.source)
        return MessageView(*self.key(flight), source, name(flight.target))

    def _report(self, flight: InFlight) -> Key:
        kind, fork = self.key(flight)
        return ("RemoteFailed" if kind == "RemoteCall" else "CallFailed"), fork


def model_key(message: msg.Message) -> Key:
    """Name a message of the model."""
    return kind_of(message), f"f{message.fork}"
