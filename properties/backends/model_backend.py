"""The model as a backend of its own twin: under SOUND it agrees by construction, under other rules it must be caught.

That is what it is for. A trace can be taken again on the model alone, and each mutant of the rules shows that the twin can
see the difference the rule makes.
"""

from __future__ import annotations

from farref.model.actions import Action
from farref.model.rref import RRefModel
from farref.model.rules import SOUND, RRefRules
from farref.model.world import Bounds
from farref.properties.backends.backend import Refused
from farref.properties.observation import Observation, observe_model


class ModelBackend:
    """The model, under rules of one's choice."""

    name = "model"
    restless = False

    def __init__(self, rules: RRefRules = SOUND) -> None:
        self.rules = rules

    def start(self, bounds: Bounds) -> None:
        """Begin with the empty world."""
        self.model = RRefModel(bounds, self.rules)
        self.world = self.model.initial

    def perform(self, action: Action) -> None:
        """Take a step."""
        after = self.model.step(self.world, action)
        if after is None:
            raise Refused(f"{action} cannot happen here")
        self.world = after

    def attempt(self, action: Action) -> bool:
        """Say whether the step could be taken."""
        return self.model.step(self.world, action) is not None

    def observe(self) -> Observation:
        """Look at the world."""
        return observe_model(self.world, self.model.bounds)

    def close(self) -> None:
        """Nothing was started."""
