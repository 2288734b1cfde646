"""Every step there is in a small world, taken by the model and by the implementation side by side.

Not the model's states alone are searched, but pairs: a world of the model, and everything the implementation has inside. Two
runs that lead to one world may leave other numbers, marks and counts in the implementation, and such pairs are gone on from
each on its own. So within the bounds no order of events, whatever it leaves behind, leads to a step on which the two disagree.
Breadth first: what is found first is a shortest story.

The backend must be a value that can be copied: it is kept as bytes between steps.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from farref.model.rref.actions import Action
from farref.model.rref.world import Bounds, World
from farref.properties.protocols import sound_model
from farref.properties.twin.backend import Backend
from farref.properties.twin.twin import Disagreement, Twin

AnyBackend = TypeVar("AnyBackend", bound=Backend)
Pair = tuple[World, bytes]
"""A world of the model, and the fingerprint of an implementation that looks the same."""


@dataclass(frozen=True)
class Refined:
    """What was searched."""

    worlds: int  # of the model
    pairs: int
    transitions: int
    seconds: float
    is_whole: bool  # every pair that can be reached was gone on from


class Refinement(Generic[AnyBackend]):
    """A search through all pairs."""

    def __init__(self, bounds: Bounds, fingerprint: Callable[[AnyBackend], bytes]) -> None:
        self.bounds, self.fingerprint = bounds, fingerprint
        self.origins: dict[Pair, tuple[Pair, Action] | None] = {}
        self.frontier: deque[tuple[Pair, bytes]] = deque()
        self.transitions = 0

    def search(self, backend: AnyBackend, *, transitions_max: int | None = None) -> Refined:
        """Take every step that can be taken; a disagreement is raised with a shortest story."""
        begin = time.monotonic()
        twin = Twin(self.bounds, backend)
        self._meet(twin.world, backend, None)
        while self.frontier and (transitions_max is None or self.transitions < transitions_max):
            pair, saved = self.frontier.popleft()
            self._go_on(pair, saved)
        worlds = len({world for world, _ in self.origins})
        return Refined(
            worlds, len(self.origins), self.transitions, time.monotonic() - begin, is_whole=not self.frontier
        )

    def _go_on(self, pair: Pair, saved: bytes) -> None:
        model, world = sound_model(self.bounds), pair[0]
        possible = [(action, after) for action in model.actions if (after := model.step(world, action)) is not None]
        for action, after in possible:
            self._step(pair, saved, action, after)
        if not possible:
            Twin.resume(pickle.loads(saved), self.bounds, world).check_end()

    def _step(self, pair: Pair, saved: bytes, action: Action, after: World) -> None:
        backend: AnyBackend = pickle.loads(saved)
        twin = Twin.resume(backend, self.bounds, pair[0])
        self.transitions += 1
        try:
            twin.step(action, after)
        except Disagreement as found:
            raise Disagreement(self.bounds, backend.name, (*self._path(pair), action), found.lines) from found
        self._meet(twin.world, backend, (pair, action))

    def _meet(self, world: World, backend: AnyBackend, origin: tuple[Pair, Action] | None) -> None:
        pair = (world, self.fingerprint(backend))
        if pair not in self.origins:
            self.origins[pair] = origin
            self.frontier.append((pair, pickle.dumps(backend, pickle.HIGHEST_PROTOCOL)))

    def _path(self, pair: Pair) -> tuple[Action, ...]:
        actions: list[Action] = []
        while (origin := self.origins[pair]) is not None:
            pair, action = origin
            actions.append(action)
        return tuple(reversed(actions))
