"""Model and implementation in lockstep: every step is taken by both, and after every step both look the same.

The model under SOUND says what can happen. Each step is performed on the backend too, and the two observations must be equal
(`observation.py`). Whatever else a backend does with a step, refuse it or crash, is a disagreement as well. Where nothing
can happen any more, nothing may be left. A disagreement tells its story from the model, the two observations' difference,
and how to see it again.

Two that agree may both be wrong. So all that must always hold is evaluated too, on the model's world (`safety.py`), with the
clauses of the proof (`proof/link/judge.py`), and on what the backend shows, with what its applications know (`visible.py`):
after every step, or, where many schedules matter more, after a sample of the steps and at the end.

The application also tries what it must be refused, such as to use a handle whose creation timed out (R27). Such attempts must
change nothing. And a few steps of the model an implementation takes together with the step before: those are prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any, Final

from farref.model.checker.interface import Action
from farref.properties.protocol import Judgement, unjudged
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.backend import Backend
from farref.properties.twin.observation import difference, plain_lines
from farref.properties.twin.safety import Safety
from farref.properties.violation import Violation

SHARED: Final = "both agree, and "
"""How a line begins that says what is wrong with both."""

PROVED: Final = 4
"""A run that is judged by samples looks the clauses of the proof up each fourth time: that costs as much as the rest does."""


class Disagreement(Exception):  # noqa: N818 (it says what happened)
    """Model and backend differ after a run, or are both wrong: the last action is the one after which they are.

    What was seen violated is in `violated`, and in words among the lines.
    """

    has_model = True  # the model has taken the same run

    def __init__(
        self,
        bounds: Any,
        backend: str,
        actions: tuple[Action, ...],
        lines: tuple[str, ...],
        note: str = "",
        violated: tuple[Violation, ...] = (),
    ) -> None:
        super().__init__(backend)
        self.bounds, self.backend, self.actions, self.lines, self.note = bounds, backend, actions, lines, note
        self.violated = violated

    def __reduce__(self) -> tuple[type[Disagreement], tuple[object, ...]]:
        return type(self), (self.bounds, self.backend, self.actions, self.lines, self.note, self.violated)

    def noted(self, note: str) -> Disagreement:
        """Give the same disagreement with a remark on how it was found."""
        return type(self)(self.bounds, self.backend, self.actions, self.lines, note, self.violated)

    @property
    def is_shared(self) -> bool:
        """Say whether the two agree, and both are wrong."""
        return bool(self.violated) and all(line.startswith(SHARED) for line in self.lines)

    @property
    def headline(self) -> str:
        """Who disagrees with whom."""
        came = "agree and are both wrong" if self.is_shared else "disagree"
        return f"model and {self.backend} backend {came}"

    @property
    def story(self) -> list[str]:
        """The run, one sentence a step."""
        protocol = protocol_of(self.bounds)
        return [protocol.tell(moment) for moment in protocol.replay(sound_model(self.bounds), self.actions)]

    def __str__(self) -> str:
        steps = [f"{number:3} {sentence}" for number, sentence in enumerate(self.story, start=1)]
        told = [f"{self.headline} after {len(steps)} steps", *steps, "", *self.lines]
        return "\n".join([*told, *([f"note: {self.note}"] if self.note else [])])


def always() -> bool:
    """Evaluate what must always hold after every step."""
    return True


class Twin:
    """A run, taken by the model and by a backend."""

    def __init__(self, bounds: Any, backend: Backend, is_judged: Callable[[], bool] = always) -> None:
        """Begin a run; `is_judged` says after each step whether to evaluate what must always hold."""
        self._stand(bounds, backend, sound_model(bounds).initial, is_judged)
        self.observation = self.observer.observe(self.world)
        backend.start(bounds)
        self._compare()

    @classmethod
    def resume(cls, backend: Backend, bounds: Any, world: Any) -> Twin:
        """Go on from a world that a backend has reached before; what led there is not known here."""
        twin = cls.__new__(cls)
        twin._stand(bounds, backend, world, always)
        return twin

    def _stand(self, bounds: Any, backend: Backend, world: Any, is_judged: Callable[[], bool]) -> None:
        """Stand before the first step, in a world."""
        self.protocol, self.model, self.backend = protocol_of(bounds), sound_model(bounds), backend
        self.is_judged, self.judged = is_judged, 0
        self.world = self.judged_last = world
        self.actions: list[Action] = []
        self.prompted: set[Action] = set()
        self.broken: list[Violation] = []
        self.observer, self.safety = self.protocol.observer(bounds), _safety(bounds)
        self.proved: Judgement = (
            _proved(bounds) if world == self.model.initial and not is_viewed(bounds) else unjudged
        )  # it looks at the whole run

    def enabled(self) -> list[Any]:
        """List what can happen now."""
        return [action for action in self.model.actions if self.model.step(self.world, action) is not None]

    def named(self, label: str) -> Action:
        """Find a step by the name that it is printed with."""
        known = _by_name(self.model)
        if label not in known:
            raise ValueError(f"nothing is called {label!r} in this world")
        return known[label]

    def can(self, action: Action) -> bool:
        """Say whether an action can happen now."""
        return self.model.step(self.world, action) is not None

    def step(self, action: Action, after: Any = None) -> None:
        """Take a step on both sides, compare, and see that whatever must always hold does."""
        self.advance(action, after)
        if self.broken:
            raise self.violation()

    def advance(self, action: Action, after: Any = None) -> None:
        """Take a step on both sides, and compare; what is violated then is in `broken`, for the caller to judge.

        Whoever knows where the step leads in the model may say so.
        """
        after = after if after is not None else self.model.step(self.world, action)
        if after is None:
            raise ValueError(f"{action} cannot happen here")
        self.actions.append(action)
        self.world = self._with_prompt_steps(after)
        self.observation = self.observer.observe(self.world)
        try:
            self.backend.perform(action)
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} does not take it: {_said(error)}"]) from error
        seen = self._compare()
        if self.is_judged():
            touched = self.safety.touched(self.judged_last, self.world)
            self.broken = self._violated(seen, touched, touched)
        if not self.broken:
            self._try_in_vain()

    def violation(self) -> Disagreement:
        """Give what is violated as a disagreement: both agree, and are wrong."""
        return self._disagreement([f"{SHARED}{one}" for one in self.broken], self.broken)

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

    def check_if_over(self) -> None:
        """See that nothing is left, if nothing more can happen."""
        if not any(map(self.can, self.model.actions)):
            self.check_end()

    def check_end(self) -> None:
        """Where nothing can happen any more, nothing may be left, and whatever must always hold does."""
        self.observation = self.observer.observe(self.world)
        touched = self.safety.touched(self.judged_last, self.world)
        self.broken = self._violated(self._compare(), touched, self.safety.names)
        if self.broken:
            raise self.violation()
        left = self.protocol.left(self.world, self.observation, self.model.bounds)
        if left:
            raise self._disagreement([f"nothing more can happen, and in the model {one}" for one in left])

    def _compare(self) -> Any:
        """See that both look the same, and say how."""
        try:
            seen = self.backend.observe()
        except Exception as error:
            raise self._disagreement([f"{self.backend.name} cannot be observed: {_said(error)}"]) from error
        sees = getattr(self.backend, "sees", None)  # a backend of one's own may show a part only
        expected = self.observation if sees is None else sees(self.observation)
        if seen != expected:
            lines = difference(expected, seen, self.backend.name, self._lines)
            shown = self._visible(seen, self.safety.names)
            raise self._disagreement([*lines, *[f"{self.backend.name} alone: {one}" for one in shown]], shown)
        return seen

    def _violated(self, seen: Any, touched: Collection[str], shown_anew: Collection[str]) -> list[Violation]:
        """List what must always hold and does not: in the world, of what was touched, and of what may look otherwise."""
        self.judged_last, self.judged = self.world, self.judged + 1
        broken, shown = self.safety.violated(self.world, touched), self._visible(seen, shown_anew)
        if self.is_judged is always or self.judged % PROVED == 0:
            broken += self.proved(self.world, self.actions, touched)
        known = {(one.property, one.about) for one in broken}
        return [*broken, *[one for one in shown if (one.property, one.about) not in known]]

    def _lines(self, seen: Any) -> list[str]:
        return self.protocol.lines(seen) if isinstance(seen, type(self.observation)) else plain_lines(seen)

    def _visible(self, seen: Any, touched: Collection[str]) -> list[Violation]:
        """List what those named violate, as far as it is seen. Where only a part is shown, there is nothing to go by."""
        if not isinstance(seen, type(self.observation)) or is_viewed(self.model.bounds):
            return []
        truth = getattr(self.backend, "truth", None) or self.protocol.truth(self.world, self.model.bounds)
        return self.protocol.visible(seen, truth, touched)

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

    def _disagreement(self, lines: list[str], violated: Iterable[Violation] = ()) -> Disagreement:
        bounds, actions = self.model.bounds, tuple(self.actions)
        return Disagreement(bounds, self.backend.name, actions, tuple(lines), violated=tuple(violated))


@lru_cache(maxsize=64)
def _by_name(model: Any) -> dict[str, Action]:
    return {str(action): action for action in model.actions}


@lru_cache(maxsize=64)
def _safety(bounds: Any) -> Safety:
    return Safety(protocol_of(bounds), bounds)


@lru_cache(maxsize=64)
def is_viewed(bounds: Any) -> bool:
    """Say whether somebody may be excluded. Of such worlds the properties of the model speak, and no others yet (R46)."""
    return bool(getattr(bounds, "exclusions", 0))


def _proved(bounds: Any) -> Judgement:
    return protocol_of(bounds).proved(bounds)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
