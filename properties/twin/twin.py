"""Model and implementation in lockstep: every step is taken by both, and after every step both look the same.

The model under SOUND says what can happen. Each step is performed on the backend too, and the two observations must be equal
(`observation.py`). Whatever else a backend does with a step, refuse it or crash, is a disagreement as well. Where nothing
can happen any more, nothing may be left. A disagreement tells its story from the model, the two observations' difference,
and how to see it again.

The application also tries what it must be refused, such as to use a handle whose creation timed out (R27). Such attempts must
change nothing. And a few steps of the model an implementation takes together with the step before: those are prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from farref.model.checker.interface import Action
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.backend import Backend
from farref.properties.twin.observation import difference


class Disagreement(Exception):  # noqa: N818 (it says what happened)
    """Model and backend differ after a run: the last action is the one after which they do."""

    def __init__(
        self, bounds: Any, backend: str, actions: tuple[Action, ...], lines: tuple[str, ...], note: str = ""
    ) -> None:
        super().__init__(backend)
        self.bounds, self.backend, self.actions, self.lines, self.note = bounds, backend, actions, lines, note

    def __reduce__(self) -> tuple[type[Disagreement], tuple[object, ...]]:
        return type(self), (self.bounds, self.backend, self.actions, self.lines, self.note)

    def noted(self, note: str) -> Disagreement:
        """Give the same disagreement with a remark on how it was found."""
        return Disagreement(self.bounds, self.backend, self.actions, self.lines, note)

    @property
    def story(self) -> list[str]:
        """The run, one sentence a step."""
        protocol = protocol_of(self.bounds)
        return [protocol.tell(moment) for moment in protocol.replay(sound_model(self.bounds), self.actions)]

    def __str__(self) -> str:
        steps = [f"{number:3} {sentence}" for number, sentence in enumerate(self.story, start=1)]
        told = [f"the model and the {self.backend} backend disagree after {len(steps)} steps", *steps, "", *self.lines]
        return "\n".join([*told, *([f"note: {self.note}"] if self.note else [])])


class Twin:
    """A run, taken by the model and by a backend."""

    def __init__(self, bounds: Any, backend: Backend) -> None:
        self.protocol, self.model, self.backend = protocol_of(bounds), sound_model(bounds), backend
        self.world = self.model.initial
        self.actions: list[Action] = []
        self.prompted: set[Action] = set()
        self.observer = self.protocol.observer(bounds)
        self.observation = self.observer.observe(self.world)
        backend.start(bounds)
        self._compare()

    @classmethod
    def resume(cls, backend: Backend, bounds: Any, world: Any) -> Twin:
        """Go on from a world that a backend has reached before; what led there is not known here."""
        twin = cls.__new__(cls)
        twin.protocol, twin.model, twin.backend = protocol_of(bounds), sound_model(bounds), backend
        twin.world, twin.actions, twin.prompted = world, [], set()
        twin.observer = twin.protocol.observer(bounds)
        return twin

    def enabled(self) -> list[Any]:
        """List what can happen now."""
        return [action for action in self.model.actions if self.model.step(self.world, action) is not None]

    def can(self, action: Action) -> bool:
        """Say whether an action can happen now."""
        return self.model.step(self.world, action) is not None

    def step(self, action: Action) -> None:
        """Take a step on both sides, and compare."""
        after = self.model.step(self.world, action)
        if after is None:
            raise ValueError(f"{action} cannot happen here")
        self.actions.append(action)
        self.world = self._with_prompt_steps(after)
        self.observation = self.observer.observe(self.world)
        try:
            self.backend.perform(action)
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} does not take it: {_said(error)}"]) from error
        self._compare()
        self._try_in_vain()

    def _with_prompt_steps(self, world: Any) -> Any:
        """Let the model alone take what the backend has taken together with the last step."""
        while (action := self.protocol.prompt(world, self.model.bounds)) is not None:
            self.actions.append(action)
            self.prompted.add(action)
            world = self.model.step(world, action)
        return world

    def take(self, actions: Iterable[Action]) -> int:
        """Take the steps of a run as far as they can happen; say how many that were."""
        taken = 0
        for action in actions:
            if action not in self.prompted:
                if not self.can(action):
                    break
                self.step(action)
            taken += 1
        return taken

    def finish(self) -> None:
        """Take the run to its end, always by the first step that is possible, and see that nothing is left."""
        while enabled := self.enabled():
            self.step(enabled[0])
        self.check_end()

    def check_end(self) -> None:
        """Where nothing can happen any more, nothing may be left."""
        left = self.protocol.left(self.world, self.observer.observe(self.world), self.model.bounds)
        if left:
            raise self._disagreement([f"nothing more can happen, and in the model {one}" for one in left])

    def _compare(self) -> None:
        try:
            seen = self.backend.observe()
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} cannot be observed: {_said(error)}"]) from error
        if seen != self.observation:
            lines = self.protocol.lines
            raise self._disagreement(difference(self.observation, seen, self.backend.name, lines))
        broken = self.protocol.broken(self.world, self.model.bounds)
        if broken:
            raise self._disagreement([f"both agree, and {one}" for one in broken])

    def _try_in_vain(self) -> None:
        tried = False
        for action in self.protocol.forbidden(self.world, self.model.bounds):
            tried = True
            try:
                let_through = self.backend.attempt(action)
            except Exception as error:
                raise self._disagreement([f"{self.backend.name} fails to refuse {action}: {_said(error)}"]) from error
            if let_through:
                raise self._disagreement([f"{self.backend.name} lets {action} through, which must be refused"])
        if tried:
            self._compare()

    def _disagreement(self, lines: list[str]) -> Disagreement:
        return Disagreement(self.model.bounds, self.backend.name, tuple(self.actions), tuple(lines))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
