"""Take a run of a model: by hand, one labelled step after the other, as the stories write them, or as an engine found it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Generic, Self, TypeVar

from farref.model.checker.interface import Action, Model, State

AnyModel = TypeVar("AnyModel", bound=Model)


def states(model: Model, actions: Iterable[Action]) -> list[State]:
    """Take the actions; each must be possible. Give all states on the way, the initial one first."""
    found = [model.initial]
    for action in actions:
        found.append(model.step(found[-1], action))
        assert found[-1] is not None, f"{action} cannot happen there"
    return found


def named(model: Model, *labels: str) -> list[Action]:
    """Find the actions with these labels."""
    known = {str(action): action for action in model.actions}
    return [known[label] for label in labels]


def successors(model: Model, state: State) -> set[State]:
    """Give the states one step further."""
    return {one for action in model.actions if (one := model.step(state, action)) is not None}


def reachable(model: Model) -> Iterator[State]:
    """Give every state that can be reached."""
    seen, waiting = {model.initial}, [model.initial]
    while waiting:
        state = waiting.pop()
        yield state
        after = successors(model, state)
        waiting += after - seen
        seen |= after


class Play(Generic[AnyModel]):
    """A world of a model, and the steps taken in it so far."""

    finishing: ClassVar = ""
    """How the labels begin of what is done in order to finish."""

    def __init__(self, model: AnyModel) -> None:
        self.model = model
        self.world: Any = model.initial

    def __call__(self, *labels: str) -> Self:
        """Take the steps; each must be possible."""
        for label, action in zip(labels, named(self.model, *labels), strict=True):
            after = self.model.step(self.world, action)
            assert after is not None, f"{label} cannot happen now; what can: {', '.join(self.enabled())}"
            self.world = after
        return self

    def enabled(self) -> list[str]:
        """List what can happen now."""
        return [str(action) for action in self.model.actions if self.model.step(self.world, action) is not None]

    def finish(self) -> Self:
        """Take possible steps, of the kind that finishes or of all, the first one listed each time, until none is left."""
        while labels := [label for label in self.enabled() if label.startswith(self.finishing)]:
            self(labels[0])
        return self
