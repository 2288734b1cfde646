"""The messages under way between engines, gathered under the names that the model has for them.

The model's network is a set, and an implementation may say the same thing twice: a root answers every late report with `Abort`
(A19), of which the model needs one. So messages with one name are one message: its copies arrive together and are lost
together. What is said again after it has arrived arrives at once, and must have no effect; on a broken link, once it is mended.

Somebody excluded is told so in a step of its own, so what refusals say is lost (R38). The model loses messages to somebody whom
their sender has excluded, and sends them again; here they are late instead, as nobody sends them again (R37).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, CallFailed, Control, Excluded, ForwardCall
from farref.impl.simulated.network import InFlight
from farref.model.autograd import messages as msg
from farref.properties.autograd.observation import MessageView
from farref.properties.twin.backend import Refused
from farref.properties.twin.backends.autograd.names import Names, Numbered, name
from farref.properties.twin.backends.autograd.network import AutogradNetwork
from farref.properties.twin.backends.autograd.seen import WorkerSeen
from farref.properties.twin.backends.autograd.views import Views


class State(Enum):
    """What has become of a message."""

    FLYING = "flying"
    LOST = "lost"
    COPIED = "copied"  # it has arrived, and a copy is under way
    ARRIVED = "arrived"


@dataclass
class Copies:
    """All copies of one message."""

    state: State = State.FLYING
    flights: dict[int, InFlight] = field(default_factory=dict)
    numbers: set[Numbered] = field(default_factory=set)


class Traffic:
    """Finds and names what is under way. An acknowledgement arrives with the step that causes it."""

    def __init__(self, network: AutogradNetwork, names: Names, members: Views, *, restless: bool) -> None:
        self.network, self.names, self.members, self.restless = network, names, members, restless
        self.messages: dict[msg.Message, Copies] = {}
        self.dead: set[WorkerId] = set()
        self._last = 0
        self._answered: set[Numbered] = set()
        self._apart: dict[frozenset[WorkerId], list[InFlight]] = {}
        """The links that are broken, and what would take effect at once and waits on them."""

    def flights(self, message: msg.Message) -> list[InFlight]:
        """Find the copies of a message that are under way."""
        found = self.messages.get(message, Copies()).flights
        if not found:
            raise Refused(f"{message} is not under way")
        return list(found.values())

    def take(self, message: msg.Message, state: State) -> list[int]:
        """Take the copies of a message out, to do with them as the state says."""
        found = [flight.id for flight in self.flights(message)]
        self.messages[message].state = state
        self.messages[message].flights.clear()
        return found

    def lose(self, message: msg.Message) -> list[int]:
        """Take the copies of a message out that are lost; one that nobody would send again is only late."""
        if any(flight.target in self.members.lost_to(flight.source) for flight in self.flights(message)):
            self.messages[message].state = State.LOST
            return []
        return self.take(message, State.LOST)

    def copy(self, message: msg.Message) -> tuple[int, list[int]]:
        """Choose the copy of a message that arrives and stays under way, and take the others out."""
        first, *others = self.flights(message)
        self.messages[message].state = State.COPIED
        self.messages[message].flights = {first.id: first}
        return first.id, [one.id for one in others]

    def send_again(self, message: msg.Message, workers: Iterable[WorkerSeen]) -> None:
        """Send a lost message again (R6)."""
        copies = self.messages[message]
        copies.state = State.FLYING
        if copies.flights:
            return
        unanswered = {(seen.worker, *one) for seen in workers for one in seen.unanswered}
        for place in sorted(copies.numbers & unanswered):
            self.network.retry(*place)

    def bury(self, worker: WorkerId) -> None:
        """Let nothing arrive at somebody dead, and nothing that is lost come from there again."""
        self.dead.add(worker)
        for copies in self.messages.values():
            for flight in list(copies.flights.values()):
                if flight.target == worker:
                    del copies.flights[flight.id]
                    self.network.drop(flight.id)

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Break a link."""
        self.network.cut(one, other)
        self._apart[frozenset((one, other))] = []

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """Mend a link, and let arrive what waited on it and was to arrive at once."""
        self.network.mend(one, other)
        for flight in self._apart.pop(frozenset((one, other))):
            (self.network.drop if flight.target in self.dead else self.network.deliver)(flight.id)

    def settle(self) -> None:
        """Take in what was sent, and let acknowledgements arrive, until there is nothing new."""
        while new := [flight for flight in self.network.in_flight() if flight.id > self._last]:
            for flight in new:
                self._last = flight.id
                if flight.target in self.dead or self._goes_nowhere(flight):
                    self.network.drop(flight.id)
                elif isinstance(flight.message, Ack):
                    self._acknowledge(flight, flight.message)
                elif isinstance(flight.message, Control | ForwardCall):
                    self._enter(flight, flight.message)
                elif isinstance(flight.message, CallFailed):
                    self._let_in(flight)  # an error for the caller, which is none of this protocol's business
                else:
                    raise Refused(f"{flight.message} is sent, which is no message of this protocol")

    def _goes_nowhere(self, flight: InFlight) -> bool:
        """Say whether it is the word of a refusal, or a call to somebody whom its sender has excluded (R37)."""
        is_to_the_lost = flight.target in self.members.lost_to(flight.source)
        return isinstance(flight.message, Excluded) or (isinstance(flight.message, ForwardCall) and is_to_the_lost)

    def _enter(self, flight: InFlight, message: Control | ForwardCall) -> None:
        named = self.names.message(flight.source, flight.target, message)
        copies = self.messages.setdefault(named, Copies())
        if isinstance(message, Control):
            copies.numbers.add((flight.source, flight.target, message.number))
        match copies.state:
            case State.FLYING:
                copies.flights[flight.id] = flight
            case State.LOST:
                self.network.drop(flight.id)
            case State.COPIED | State.ARRIVED:
                self._let_in(flight)

    def _let_in(self, flight: InFlight) -> None:
        """Let something arrive at once, or as soon as its link is mended."""
        waiting = self._apart.get(frozenset((flight.source, flight.target)))
        if waiting is None:
            self.network.deliver(flight.id)
        else:
            waiting.append(flight)

    def _acknowledge(self, flight: InFlight, ack: Ack) -> None:
        """Let an acknowledgement arrive; a restless network loses some, so that messages come again after their effect (R7)."""
        place = (flight.target, flight.source, ack.number)
        named = self.names.known.get(place)
        is_over = named is not None and self.messages[named].state is State.ARRIVED
        is_heard = flight.source not in self.members.lost_to(flight.target)
        is_first = place not in self._answered
        self._answered.add(place)
        if self.restless and is_over and is_heard and is_first and ack.number % 2:
            self.network.drop(flight.id)
            self.network.retry(*place)
        else:
            self.network.deliver(flight.id)

    def views(self) -> list[MessageView]:
        """See everything that is under way; of several copies, one."""
        return [
            self._view(named, next(iter(one.flights.values())))
            for named, one in self.messages.items()
            if one.flights and one.state is not State.LOST
        ]

    def _view(self, named: msg.Message, flight: InFlight) -> MessageView:
        assert isinstance(flight.message, Control | ForwardCall)
        content = self.names.content(flight.message, flight.source)
        return MessageView(str(named), name(flight.source), name(flight.target), content)

    def waiting(self, source: WorkerId, unanswered: tuple[tuple[WorkerId, int], ...]) -> set[MessageView]:
        """See the control messages of a worker that have no answer yet; the dead, and those who refuse it, do not answer."""
        found = set()
        for peer, number in unanswered:
            if peer not in self.dead:
                named = self.names.known[source, peer, number]  # type: ignore[index]
                is_refused = self.messages[named].state is State.ARRIVED and source in self.members.lost_to(peer)
                found |= set() if is_refused else {MessageView(str(named), name(source), name(peer))}
        return found
