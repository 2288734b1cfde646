"""The simulated network of a storm: values hold references, deaths are noticed one by one, and workers come back.

What R3 allows happens, and what a death brings (R34): what goes to the dead is lost, and what the dead have sent may still
arrive. A worker that comes back begins its next life with an empty core (R2). A stream joins two lives, so what was meant for
the earlier life is lost with its stream. Answers say whose life they are meant for, and may still arrive; so may control
messages from the earlier life (R7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from farref.impl.core.core import Core
from farref.impl.core.effects import AnswerFetch, DropValue, Effect, Failure, Send, Value
from farref.impl.core.ids import (
    CallId,
    ForkData,
    Incarnation,
    OwnedReference,
    Reference,
    RRefId,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import Ack, FetchReturn
from farref.impl.errors import RpcError
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref.simulated import SeenSimulation

REPLIES: Final = 1_000_000
"""Results are sent to callers that did not call, under numbers that no call has."""


class Content(msgspec.Struct, frozen=True):
    """A value: something to know it by, and the references it holds."""

    token: str
    references: tuple[Reference, ...]


class StormNetwork(SeenSimulation):
    """Workers 0 to n-1 in bad weather. Each method is one step of one worker, and what follows from it at once."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.ranks = tuple(self.cores)
        self.values: dict[RRefId, Content] = {}

    # The application

    def create_local_of(self, worker: WorkerId, token: str, holds: tuple[Reference, ...]) -> OwnedReference:
        """Let a worker make an RRef of a value that holds references."""
        reference = self.cores[worker].create_local(Value(content := Content(token, holds)))
        self.values[reference.rref] = content
        return reference

    def finish_with(
        self, worker: WorkerId, rref: RRefId, token: str, holds: tuple[Reference, ...], failed: bool
    ) -> None:
        """Let the function that computes a value end."""
        content = Content(token, holds)
        if not failed:
            self.values[rref] = content
        outcome = Failure(token) if failed else Value(content)
        self.perform(worker, self.cores[worker].finish_function(rref, outcome))

    def share(self, worker: WorkerId, target: WorkerId, cargo: tuple[Reference, ...]) -> tuple[ForkData, ...]:
        """Mint forks for what is about to be written into a message; if one is refused, all are given back (R28)."""
        core, forks = self.cores[worker], list[ForkData]()
        try:
            for reference in cargo:
                forks.append(core.share(reference, target))
        except RpcError:
            self.perform(worker, core.withdraw(tuple(forks)))
            raise
        return tuple(forks)

    def create_remote_with(self, worker: WorkerId, owner: WorkerId, cargo: tuple[Reference, ...]) -> UserReference:
        """Let a worker call `remote()`, with references among the arguments."""
        forks = self.share(worker, owner, cargo)
        reference, effects = self.cores[worker].create_remote(owner, forks=forks)
        self.perform(worker, effects)
        return reference

    def call(self, worker: WorkerId, target: WorkerId, cargo: tuple[Reference, ...]) -> CallId:
        """Let a worker call a function with references; the call is the last message under way."""
        forks = self.share(worker, target, cargo)
        call, effects = self.cores[worker].call(target, forks=forks)
        self.perform(worker, effects)
        return call

    def reply(self, worker: WorkerId, target: WorkerId, number: int, cargo: tuple[Reference, ...]) -> None:
        """Let a worker return references to a caller."""
        forks = self.share(worker, target, cargo)
        self.perform(worker, self.cores[worker].reply(target, CallId(REPLIES + number), forks=forks))

    # Deaths and lives

    def die(self, worker: WorkerId) -> None:
        """Let a worker do nothing any more."""
        del self.cores[worker]
        self.used_cores.used.discard(worker)
        self._lose(lambda flight: flight.target == worker)

    def notice(self, worker: WorkerId, dead: WorkerId) -> None:
        """Let a worker hear that another is dead."""
        self.perform(worker, self.cores[worker].peer_died(dead, f"worker {dead} is dead"))

    def restart(self, worker: WorkerId) -> None:
        """Let a worker whose tables are empty begin its next life."""
        life = Incarnation(self.cores[worker].incarnation + 1)
        self.cores[worker] = Core(worker, self.ranks, life)
        self._lose(lambda flight: flight.target == worker and not isinstance(flight.message, Ack))

    def life(self, worker: WorkerId) -> int:
        """Say which life a worker is in; the dead are in none that anything could be too late for."""
        return self.used_cores.at_rest(worker).incarnation if worker in self.cores else 0

    def bring_back(self, flights: Iterable[InFlight]) -> None:
        """Have copies of messages under way once more, which have arrived before. Those without a receiver are lost."""
        for one in flights:
            self._sent += 1
            self._in_flight[self._sent] = InFlight(self._sent, one.source, one.target, one.message)

    def _lose(self, is_lost: Callable[[InFlight], bool]) -> None:
        for flight in self.in_flight():
            if is_lost(flight):
                del self._in_flight[flight.id]

    # Beneath

    def arrive(self, flight: InFlight) -> None:
        """Let a message arrive, a value with what it is."""
        content = flight.message.body.decode() if isinstance(flight.message, FetchReturn) else None
        effects = self.cores[flight.target].receive(flight.source, flight.message, content)
        self.perform(flight.target, effects)

    def perform(self, worker: WorkerId, effects: list[Effect]) -> None:
        """Do what a step of a worker asks for. Values hold and hand on references, and what goes to the dead is lost."""
        for effect in effects:
            match effect:
                case AnswerFetch():
                    self.log.append((worker, effect))
                    self._answer(worker, effect)
                case DropValue(rref):
                    self.log.append((worker, effect))
                    for reference in self.values.pop(rref, Content("", ())).references:
                        self.let_go(worker, reference)
                case Send(target, _) if target not in self.cores:
                    self.log.append((worker, effect))  # nobody is there to receive it
                case _:
                    super().perform(worker, [effect])

    def _answer(self, worker: WorkerId, answer: AnswerFetch) -> None:
        """Write a value for one user. What cannot be shared any more makes it an error, as in a real worker (R20)."""
        failed, forks, token = isinstance(answer.outcome, Failure), tuple[ForkData, ...](), "an error"
        if isinstance(answer.outcome.content, Content) and not failed:
            try:
                forks, token = (
                    self.share(worker, answer.target, answer.outcome.content.references),
                    answer.outcome.content.token,
                )
            except RpcError:
                failed = True
        self.perform(worker, self.cores[worker].answer_fetch(answer, failed, forks, token.encode()))
