"""A world of several workers and one that hosts the authority: views that arrive where and when a test says."""

from __future__ import annotations

from farref.impl.core.effects import Effect, Failure
from farref.impl.core.ids import Reference, UserReference, WorkerId
from farref.impl.core.messages import Control
from farref.impl.core.observe import EntryView
from farref.impl.core.views import MembersBody, ViewSettled
from farref.impl.simulated.network import InFlight, Simulation
from tests.impl.core.simulation import kind, under_way

HOST, A, B, C, D, E = map(WorkerId, range(6))


class Views(Simulation):
    """A creates, B owns, the others are given references."""

    def __init__(self) -> None:
        super().__init__(6, HOST)

    def let(self, wanted: type, *targets: WorkerId) -> None:
        """Let the oldest message of a kind arrive, at each of some workers."""
        for target in targets:
            self.deliver(under_way(self, wanted, target))

    def program(self) -> None:
        """Let everything arrive but what is about members."""
        while flights := [flight for flight in self.deliverable() if not is_about_members(flight)]:
            self.deliver(flights[0].id)

    def rest(self) -> None:
        """Let everything arrive."""
        while self.deliverable():
            self.deliver(self.deliverable()[0].id)

    def value(self) -> UserReference:
        """A creates a value on B, which is counted and ready."""
        x = self.create_remote(A, B)
        self.program()
        self.finish_function(B, x.rref)
        return x

    def given(self, source: WorkerId, target: WorkerId, reference: Reference) -> UserReference:
        """Pass a reference on, and let it be counted."""
        pending = self.handed(source, target, reference)
        self.program()
        return pending

    def handed(self, source: WorkerId, target: WorkerId, reference: Reference) -> UserReference:
        """Return a reference to a worker: it holds it at once, pending, and its `ForkRequest` is under way."""
        before = self.handles(target)
        self.share_in_result(source, target, reference)
        self.deliver(self.in_flight()[-1].id)
        (new,) = [one for one in self.handles(target) if one not in before]
        assert isinstance(new, UserReference)
        return new

    def entry(self) -> EntryView:
        """What B keeps for the one value it has."""
        (entry,) = self.observe()[B].entries
        return entry

    def holders(self) -> list[WorkerId]:
        """Those whom B counts."""
        return sorted(holder for _, holder in self.entry().forks)

    def told(self, worker: WorkerId, kind: type[Effect]) -> list[Effect]:
        """What a worker was told of some kind."""
        return [effect for who, effect in self.log if who == worker and isinstance(effect, kind)]

    def errors(self, worker: WorkerId, kind: type[Effect]) -> list[str]:
        """The same, as errors."""
        told = self.told(worker, kind)
        contents = [getattr(one, "content", getattr(one, "outcome", None)) for one in told]
        return [str(one.content if isinstance(one, Failure) else one) for one in contents]

    def settled(self) -> list[WorkerId]:
        """Those whose word that they have settled is under way."""
        return sorted(flight.source for flight in self.in_flight() if kind(flight) is ViewSettled)

    def are_empty(self, *but: WorkerId) -> bool:
        """Say whether nothing is left on anybody, but for some."""
        return all(tables.is_empty() for who, tables in self.observe().items() if who not in but)


def is_about_members(flight: InFlight) -> bool:
    """Say whether a message is about members."""
    return isinstance(flight.message, Control) and isinstance(flight.message.body, MembersBody)
