"""Real workers whose links really break (`silence.py`), and every message between them.

All that was said over a broken link comes after it is mended, which is when somebody waits for it at the latest.
"""

from __future__ import annotations

from collections import defaultdict

from farref.impl.core.effects import Effect, Send
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import AnyMessage
from farref.properties.twin.backends.held_core import is_about_references
from farref.properties.twin.backends.held_network import AnyDriven, AnySeen, HeldNetwork
from farref.properties.twin.backends.pool import Pool
from farref.properties.twin.backends.rref.driven_application import DrivenApplication


class SeveredNetwork(HeldNetwork[AnyDriven, AnySeen]):
    """The first workers of a pool, the links between them, and every message on them."""

    def __init__(self, pool: Pool[AnyDriven], workers: int) -> None:
        super().__init__(pool, workers)
        self._silent: set[frozenset[WorkerId]] = set()
        """The links that are cut."""
        self._sent: defaultdict[tuple[WorkerId, WorkerId], list[AnyMessage]] = defaultdict(list)

    def _hear(self, worker: WorkerId, effect: Effect) -> None:
        super()._hear(worker, effect)
        if isinstance(effect, Send) and is_about_references(effect.message):
            self._sent[worker, effect.target].append(effect.message)

    # Messages that have to come over a link

    def deliver(self, message_id: int) -> None:
        """Let a message arrive."""
        self._let_come(message_id)
        super().deliver(message_id)

    def duplicate(self, message_id: int) -> None:
        """Let a message arrive, and keep a copy under way."""
        self._let_come(message_id)
        super().duplicate(message_id)

    def drop(self, message_id: int) -> None:
        """Lose a message."""
        self._let_come(message_id)
        super().drop(message_id)

    def _let_come(self, message_id: int) -> None:
        """Mend the link that a message has to come over."""
        flight = self._flying[message_id]
        self.mend(*sorted((flight.source, flight.target)))

    # Links

    def is_silent(self, one: WorkerId, other: WorkerId) -> bool:
        """Say whether what two workers write to each other gets lost."""
        return frozenset((one, other)) in self._silent

    def cut(self, one: WorkerId, other: WorkerId) -> None:
        """Have all that two workers write to each other get lost."""
        ends = ((one, other), (other, one))
        if all(self._ask(here, DrivenApplication.can_be_cut, there) for here, there in ends):
            for here, there in ends:
                self._ask(here, DrivenApplication.cut_link, there)
            self._silent.add(frozenset((one, other)))

    def mend(self, one: WorkerId, other: WorkerId) -> None:
        """End a stream, and wait until there is a new one and all has come, once, that was written to the old one."""
        if not self.is_silent(one, other):
            return
        self._silent.discard(frozenset((one, other)))
        epoch = self._ask(one, DrivenApplication.break_stream, other)
        for here, there in ((one, other), (other, one)):
            self._ask(here, DrivenApplication.await_stream, there, epoch)
        for here, there in ((one, other), (other, one)):
            self._ask(here, DrivenApplication.await_exactly, there, self._sent[there, here])

    def _repair(self, worker: WorkerId) -> None:
        """Mend the links of a worker: to whoever is dead no stream is made again, and what it has said is still waited for."""
        for pair in [pair for pair in self._silent if worker in pair]:
            self.mend(*sorted(pair))
