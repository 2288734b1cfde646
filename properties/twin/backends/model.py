"""The model as a backend of its own twin: under SOUND it agrees by construction, under other rules it must be caught.

That is what it is for. A trace can be taken again on the model alone, and each mutant of the rules shows that the twin can
see the difference the rule makes.
"""

from __future__ import annotations

from typing import Any

from farref.model.checker.interface import Action
from farref.properties.protocols import protocol_of
from farref.properties.twin.backend import Refused


class ModelBackend:
    """The model of any protocol, under rules of one's choice."""

    name = "model"
    restless = False

    def __init__(self, rules: Any = None) -> None:
        self.rules = rules

    def start(self, bounds: Any) -> None:
        """Begin with the empty world."""
        self._protocol = protocol_of(bounds)
        self.model: Any = self._protocol.model(bounds, self.rules or self._protocol.profiles["sound"])
        self.actions = frozenset(self.model.actions)  # without retries nothing is sent again, whoever asks for it
        self.world, self._observer = self.model.initial, self._protocol.observer(bounds)

    def perform(self, action: Action) -> None:
        """Take a step."""
        after = self.model.step(self.world, action) if action in self.actions else None
        if after is None:
            raise Refused(f"{action} cannot happen here")
        while (prompt := self._protocol.prompt(after, self.model.bounds)) is not None:
            after = self.model.step(after, prompt)
        self.world = after

    def attempt(self, action: Action) -> bool:
        """Say whether the step could be taken."""
        return self.model.step(self.world, action) is not None

    def observe(self) -> Any:
        """Look at the world."""
        return self._observer.observe(self.world)

    def close(self) -> None:
        """Nothing was started."""
