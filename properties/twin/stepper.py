"""How the steps of a schedule are drawn, one after the other.

A step is drawn in two parts: first its sort, in the order that the schedule's temperament says, then evenly among the possible
steps of that sort.
"""

from __future__ import annotations

from random import Random
from typing import Any

from farref.model.checker.interface import Action
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.schedule import Schedule


class Stepper:
    """Draws one possible step after the other."""

    def __init__(self, schedule: Schedule, random: Random) -> None:
        self.model, self.random = sound_model(schedule.bounds), random
        self.candidates = protocol_of(schedule.bounds).candidates(self.model, schedule.late)
        self.after: Any = None  # the world that the step drawn last leads to
        self.eagerness = [(sort, 1.0 / eager) for sort, eager in schedule.eagerness if self.candidates.has(sort)]

    def draw(self, world: Any) -> Action | None:
        """Draw a step that can be taken in a world; None if there is none."""
        draw = self.random.random
        order = sorted([(draw() ** power, sort) for sort, power in self.eagerness], reverse=True)
        for _, sort in order:
            action = self._first_possible(world, self.candidates.of(sort, world))
            if action is not None:
                return action
        return None

    def _first_possible(self, world: Any, order: list[Action]) -> Action | None:
        """Try the candidates in random order: each of the possible ones is equally likely to come first."""
        random, step = self.random.random, self.model.step
        while order:
            chosen = int(random() * len(order))
            action, order[chosen] = order[chosen], order[-1]
            order.pop()
            self.after = step(world, action)
            if self.after is not None:
                return action
        return None
