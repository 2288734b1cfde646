"""Real workers and every message between them, held still until the driver says what happens.

The driver knows what is under way from what each worker says it has sent. The message itself waits in the process of its
receiver until it is let in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Concatenate, Generic, ParamSpec, TypeVar

from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import SequenceNumber, WorkerId
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.held_core import is_about_references
from farref.properties.twin.backends.pool import Pool
from farref.properties.twin.backends.rref.driven_application import DrivenApplication

Asked = ParamSpec("Asked")
Given = TypeVar("Given")
AnyDriven = TypeVar("AnyDriven", bound=DrivenApplication)
AnySeen = TypeVar("AnySeen")


class HeldNetwork(Generic[AnyDriven, AnySeen]):
    """The first workers of a pool, and every message between them."""

    def __init__(self, pool: Pool[AnyDriven], workers: int) -> None:
        self.pool = pool
        self.log: list[tuple[WorkerId, Effect]] = []
        self._flying: dict[int, InFlight] = {}
        self._numbers = count(1)
        self._seen: dict[WorkerId, AnySeen] = {}
        self._changed: set[WorkerId] = set()
        self._ranks = [WorkerId(rank) for rank in range(workers)]

    def _ask(
        self,
        worker: WorkerId,
        step: Callable[Concatenate[AnyDriven, Asked], Given],
        *args: Asked.args,
        **kwargs: Asked.kwargs,
    ) -> Given:
        """Let a worker take a step, and take in all that it has done since it was last asked."""
        given, answer = self.pool.ask(worker, step, *args, **kwargs)
        assert answer.seen is not None, "only a crash comes without it, and was raised"
        self._seen[worker] = answer.seen
        self._changed.add(worker)
        for effect in answer.effects:
            self._hear(worker, effect)
        if answer.error is not None:
            raise answer.error
        return given

    def _hear(self, worker: WorkerId, effect: Effect) -> None:
        self.log.append((worker, effect))
        if isinstance(effect, Send) and is_about_references(effect.message):
            number = next(self._numbers)
            self._flying[number] = InFlight(number, worker, effect.target, effect.message)

    # What can be seen

    def look(self) -> Iterator[AnySeen]:
        """Look at the workers that have taken a step since the last look."""
        while self._changed:
            yield self._seen[self._changed.pop()]

    def in_flight(self) -> tuple[InFlight, ...]:
        """List every message under way, oldest first."""
        return tuple(self._flying.values())

    # The network

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""
        flight = self._flying.pop(message_id)
        self._ask(flight.target, DrivenApplication.deliver, flight.source, flight.message)

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""
        flight = self._flying[message_id]
        self._ask(flight.target, DrivenApplication.duplicate, flight.source, flight.message)

    def drop(self, message_id: int) -> None:
        """Lose a message."""
        flight = self._flying.pop(message_id)
        self._ask(flight.target, DrivenApplication.lose, flight.source, flight.message)

    def fail(self, message_id: int) -> None:
        """Tell the sender of a user call that it will never arrive."""
        flight = self._flying[message_id]
        self.drop(message_id)
        self._ask(flight.source, DrivenApplication.fail, flight.target, flight.message)

    def retry(self, worker: WorkerId, peer: WorkerId, number: SequenceNumber) -> None:
        """Send an unanswered control message again."""
        self._ask(worker, DrivenApplication.retry, peer, number)
