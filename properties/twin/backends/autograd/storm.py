"""A core in a real worker to which messages come in any order, some of them twice and some not at the first attempt.

Nobody drives it. What arrives is let in at once, or kept until something else arrives or a tick is due; control messages are
also let in twice, or thrown away, to be sent again by their sender (R3). Which of it happens follows from a seed, but when
messages arrive does not: a storm is a test of what comes out in the end, and not to be taken again step by step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from random import Random

from farref.impl.core.core import Core
from farref.impl.core.effects import Effect
from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.messages import Ack, AnyMessage, Control, ForwardCall

RETRY_S = 0.03
"""How long senders wait in a storm before they send again: losses are frequent, and nobody wants to wait for them."""


class StormCore(Core):
    """A core in bad weather."""

    def __init__(self, me: WorkerId, workers: Collection[WorkerId], incarnation: Incarnation) -> None:
        super().__init__(me, workers, incarnation)
        self.channel.first_interval_s = RETRY_S
        self.kept: list[tuple[WorkerId, AnyMessage, object]] = []
        self.faults: Counter[str] = Counter()
        self.weather: Random | None = None
        self.drops = self.duplicates = True

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Let a message in, or something else in its place."""
        if self.weather is None:
            return super().receive(source, message, content)
        chance = self.weather.random()
        if self.drops and isinstance(message, Control | Ack) and chance < 0.04:
            self.faults["dropped"] += 1
            return []
        if self.duplicates and isinstance(message, Control | Ack) and 0.04 <= chance < 0.1:
            self.faults["duplicated"] += 1
            self.kept.append((source, message, content))
        if isinstance(message, Control | Ack | ForwardCall) and chance > 0.7:
            self.faults["reordered"] += 1
            self.kept.append((source, message, content))
            return []
        return [*super().receive(source, message, content), *self._let_in(self.weather.randint(0, 1))]

    def tick(self, now: float) -> list[Effect]:
        """Take the time in, and let in what was kept."""
        return [*super().tick(now), *self._let_in(len(self.kept))]

    def _let_in(self, number: int) -> list[Effect]:
        effects: list[Effect] = []
        for _ in range(min(number, len(self.kept))):
            chosen = self.kept.pop(0 if self.weather is None else self.weather.randrange(len(self.kept)))
            effects += super().receive(*chosen)
        return effects
