"""Model and implementation in lockstep: every step is taken by both, and after every step both look the same.

The model under SOUND says what can happen. Each step is performed on the backend too, and the two observations must be equal
(`observation.py`). Whatever else a backend does with a step, refuse it or crash, is a disagreement as well. Where nothing
can happen any more, all tables are empty. A disagreement tells its story from the model, the two observations' difference,
and how to see it again.

The application also tries what it must be refused: to use a handle whose creation timed out (R27), and to begin anything once
shutdown has begun (R32). Such attempts must change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from farref.model.actions import (
    Action,
    CreateLocal,
    CreateOnSelf,
    CreateRemote,
    FetchValue,
    OwnerShare,
    UserShare,
)
from farref.model.ids import ForkId, RRefId, WorkerId
from farref.model.messages import Call
from farref.model.owner import is_listed
from farref.model.rref import RRefModel
from farref.model.user import Handle
from farref.model.world import Bounds, World
from farref.properties.backends.backend import Backend
from farref.properties.observation import ModelObserver, difference
from farref.properties.replay import replay
from farref.properties.story import tell


class Disagreement(Exception):  # noqa: N818 (it says what happened)
    """Model and backend differ after a run: the last action is the one after which they do."""

    def __init__(self, bounds: Bounds, backend: str, actions: tuple[Action, ...], lines: tuple[str, ...]) -> None:
        super().__init__(backend)
        self.bounds, self.backend, self.actions, self.lines = bounds, backend, actions, lines

    def __reduce__(self) -> tuple[type[Disagreement], tuple[object, ...]]:
        return type(self), (self.bounds, self.backend, self.actions, self.lines)

    @property
    def story(self) -> list[str]:
        """The run, one sentence a step."""
        return [tell(moment) for moment in replay(RRefModel(self.bounds), self.actions)]

    def __str__(self) -> str:
        steps = [f"{number:3} {sentence}" for number, sentence in enumerate(self.story, start=1)]
        told = [f"the model and the {self.backend} backend disagree after {len(steps)} steps", *steps, "", *self.lines]
        return "\n".join(told)


@lru_cache(maxsize=64)
def sound_model(bounds: Bounds) -> RRefModel:
    """Give the model of the sound protocol in a world of some size."""
    return RRefModel(bounds)


class Twin:
    """A run, taken by the model and by a backend."""

    def __init__(self, bounds: Bounds, backend: Backend) -> None:
        self.model, self.backend = sound_model(bounds), backend
        self.world = self.model.initial
        self.actions: list[Action] = []
        self.observer = ModelObserver(bounds)
        self.observation = self.observer.observe(self.world)
        backend.start(bounds)
        self._compare()

    @classmethod
    def resume(cls, backend: Backend, bounds: Bounds, world: World) -> Twin:
        """Go on from a world that a backend has reached before; what led there is not known here."""
        twin = cls.__new__(cls)
        twin.model, twin.backend, twin.world, twin.actions = sound_model(bounds), backend, world, []
        twin.observer = ModelObserver(bounds)
        return twin

    def enabled(self) -> list[Action]:
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
        self.world, self.observation = after, self.observer.observe(after)
        try:
            self.backend.perform(action)
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} does not take it: {_said(error)}"]) from error
        self._compare()
        if after.closing or any(user.handle is Handle.TIMED_OUT for user in after.users):
            self._try_in_vain()

    def take(self, actions: Iterable[Action]) -> int:
        """Take the steps of a run as far as they can happen; say how many that were."""
        taken = 0
        for action in actions:
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
        if not self.observer.observe(self.world).is_empty:
            raise self._disagreement(["nothing more can happen, and the tables of the model are not empty"])

    def _compare(self) -> None:
        try:
            seen = self.backend.observe()
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} cannot be observed: {_said(error)}"]) from error
        if seen != self.observation:
            raise self._disagreement(difference(self.observation, seen, self.backend.name))

    def _try_in_vain(self) -> None:
        for action in forbidden(self.world, self.model.bounds):
            try:
                let_through = self.backend.attempt(action)
            except Exception as error:
                raise self._disagreement([f"{self.backend.name} fails to refuse {action}: {_said(error)}"]) from error
            if let_through:
                raise self._disagreement(
                    [f"{self.backend.name} lets {action} through, which must be refused (R27, R32)"]
                )
        self._compare()

    def _disagreement(self, lines: list[str]) -> Disagreement:
        return Disagreement(self.model.bounds, self.backend.name, tuple(self.actions), tuple(lines))


def forbidden(world: World, bounds: Bounds) -> Iterator[Action]:
    """List what an application could try now and must be refused, as one action for each way to try it."""
    for fork, user in zip(map(ForkId, range(bounds.forks_total)), world.users, strict=True):
        refused = user.handle is Handle.TIMED_OUT or (world.closing and user.handle is Handle.HELD)
        if refused:
            yield FetchValue(fork)
            yield UserShare(fork, bounds.owner(bounds.rref_of(fork)), Call)
    for rref, owner in enumerate(world.owners):
        if world.closing and owner.held and is_listed(owner):
            yield OwnerShare(RRefId(rref), bounds.owner(RRefId(rref)), Call)
        if world.closing and not world.minted[rref] and not is_listed(owner):
            yield CreateLocal(RRefId(rref))
            yield CreateOnSelf(RRefId(rref))
            yield CreateRemote(RRefId(rref), WorkerId((bounds.owner(RRefId(rref)) + 1) % bounds.workers))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
