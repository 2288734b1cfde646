"""What a storm draws that schedules of the model do not: each is counted, so that everybody sees it was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from farref.impl.core.ids import OwnedReference
from farref.impl.core.messages import Ack, Carrier, Control
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.network import StormNetwork
from farref.properties.twin.backends.rref.storm.truth import StormTruth

MANY: Final = 4
SEVERAL: Final = "several forks in one message"
TWICE: Final = "the same RRef twice in one message"
REFUSED: Final = "several forks refused or failed at once"
CARGO: Final = "references among the arguments of a creation"
HOLDING: Final = "a value that holds references is fetched"
NESTED: Final = "a value that holds a value that holds references"
FORKS: Final = "four or more forks of one RRef at once"
CHAIN: Final = "four generations of forks at once"
ONESELF: Final = "a share with oneself"
DEATH: Final = "a death"
BEREFT: Final = "a call waits for forks, and an owner of one dies"
FROM_THE_DEAD: Final = "a message of a dead worker arrives"
LIFE: Final = "another life"
LATE: Final = "a message of an earlier life arrives"

SITUATIONS: Final = (
    *(SEVERAL, TWICE, REFUSED, CARGO, HOLDING, NESTED, FORKS, CHAIN, ONESELF),
    *(DEATH, BEREFT, FROM_THE_DEAD, LIFE, LATE),
)
"""Each of these has to happen in a campaign that means something."""

NEEDS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    REFUSED: lambda fixed: fixed.get("failures", 1) > 0,
    HOLDING: lambda fixed: fixed.get("fetches", 1) > 0,
    ONESELF: lambda fixed: fixed.get("self_shares", True),
    CHAIN: lambda fixed: fixed.get("workers", 3) > 2,
    BEREFT: lambda fixed: fixed.get("workers", 3) > 2,
}
"""What bounds that are fixed have to allow, for a situation to be drawn."""


class Watch:
    """Counts what a run is in."""

    def __init__(self, names: StormNames, truth: StormTruth, network: StormNetwork) -> None:
        self.names, self.truth, self.network = names, truth, network
        self.drawn: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()

    def before(self, move: mv.Move) -> None:
        """Count what a move is about to do to a message, or to a worker."""
        match move:
            case mv.Deliver(message) | mv.Duplicate(message) | mv.Drop(message) | mv.Fail(message) | mv.Refuse(message):
                flights = self.network.in_flight()
                named = [flight for flight in flights if self.names.flight(flight) == message]
                if named:
                    self._befalls(move, named[0], flights)
            case mv.Notice(worker, dead):
                waiting = [given for at, given in self.truth.promised.values() if at == worker and len(given) > 1]
                owners = [one for given in waiting for one in given if not isinstance(one, OwnedReference)]
                self.drawn[BEREFT] += any(one.owner == dead for one in owners)
            case _:
                pass

    def _befalls(self, move: mv.Move, flight: InFlight, flights: tuple[InFlight, ...]) -> None:
        message, life = flight.message, self.network.life
        older = (one for one in flights if one.id < flight.id)
        if isinstance(move, mv.Deliver):
            self.faults["reordered"] += any((one.source, one.target) == (flight.source, flight.target) for one in older)
        kinds = {mv.Duplicate: "duplicated", mv.Drop: "dropped", mv.Fail: "failed", mv.Refuse: "failed"}
        if type(move) in kinds:
            self.faults[kinds[type(move)]] += 1
        if isinstance(message, Carrier) and isinstance(move, mv.Fail | mv.Refuse):
            self.drawn[REFUSED] += len(message.forks) > 1
        if isinstance(move, mv.Deliver | mv.Duplicate):
            self.drawn[FROM_THE_DEAD] += flight.source in self.truth.dead
            late_control = isinstance(message, Control) and message.incarnation < life(flight.source)
            self.drawn[LATE] += late_control or (isinstance(message, Ack) and message.incarnation < life(flight.target))

    def after(self, move: mv.Move) -> None:
        """Count what a move has brought about."""
        match move:
            case mv.CreateRemote(cargo=cargo) | mv.Call(cargo=cargo) | mv.Reply(cargo=cargo):
                self._shared(move, cargo)
            case mv.CreateLocal(_, _, holds) | mv.Finish(_, holds, _):
                self.drawn[NESTED] += any(self._holds_references(handle) for handle in holds)
            case mv.Fetch(_, handle):
                self.drawn[HOLDING] += self._holds_references(handle)
            case mv.TimeOut() | mv.Abandon():
                self.faults["timed_out"] += 1
            case mv.Die():
                self.drawn[DEATH] += 1
            case mv.Restart():
                self.drawn[LIFE] += 1
            case _:
                pass

    def _shared(self, move: mv.CreateRemote | mv.Call | mv.Reply, cargo: mv.Names) -> None:
        self.drawn[SEVERAL] += len(cargo) > 1
        self.drawn[CARGO] += isinstance(move, mv.CreateRemote) and bool(cargo)
        self.drawn[TWICE] += len({self._rref(one) for one in cargo}) < len(cargo)
        self.drawn[ONESELF] += not isinstance(move, mv.CreateRemote) and bool(cargo) and move.worker == move.target
        for rref in {self._rref(one) for one in cargo}:
            living = [fork for fork in self.names.of[rref] if self.truth.has(fork)]  # before this move
            self.drawn[FORKS] += len(living) >= MANY
            self.drawn[CHAIN] += any(self._depth(fork, {*living}) >= MANY for fork in living)

    def _depth(self, fork: str, living: set[str]) -> int:
        """Count the generations above a fork that live, and itself."""
        parent = self.names.made[fork].parent
        return 1 + (self._depth(parent, living) if parent in living else 0)

    def _holds_references(self, handle: str) -> bool:
        known = self.truth.values.get(self._rref(handle))
        return known is not None and bool(known[1])

    def _rref(self, handle: str) -> str:
        return self.names.made[handle].rref if handle in self.names.made else handle
