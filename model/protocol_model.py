"""What the models of both protocols have in common: a protocol under some rules, in a world of some size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from farref.model.checker.interface import Renaming

AnyBounds = TypeVar("AnyBounds")
AnyRules = TypeVar("AnyRules")
AnyWorld = TypeVar("AnyWorld")
AnyAction = TypeVar("AnyAction")


@dataclass(frozen=True)
class ProtocolModel(Generic[AnyBounds, AnyRules, AnyWorld, AnyAction]):
    """A protocol under some rules, in a world of some size. Each protocol gives its three functions."""

    bounds: AnyBounds
    rules: AnyRules

    empty_world: ClassVar[Callable[..., Any]]
    """Gives the world of some bounds in which nothing has happened yet."""
    all_actions: ClassVar[Callable[..., Iterator[Any]]]
    """Lists every action that some bounds and rules allow to happen at some time."""
    take: ClassVar[Callable[..., Any]]
    """Gives the world after an action, by some bounds and rules, or None where it cannot happen."""

    @cached_property
    def initial(self) -> AnyWorld:
        """The world in which nothing has happened yet."""
        world: AnyWorld = self.empty_world(self.bounds)
        return world

    @cached_property
    def actions(self) -> Sequence[AnyAction]:
        """Every action these bounds and rules allow to happen at some time."""
        return tuple(self.all_actions(self.bounds, self.rules))

    def step(self, state: AnyWorld, action: AnyAction) -> AnyWorld | None:
        """Give the world after an action, or None where it cannot happen."""
        after: AnyWorld | None = self.take(state, action, self.bounds, self.rules)
        return after

    def renamings(self) -> Iterator[Renaming]:
        """The ways to rename interchangeable workers. Unless a protocol says otherwise every worker has its own place."""
        return iter(())
