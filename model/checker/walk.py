"""Seeded random walks: no proof of anything, but the quickest way into the deep.

Each walk starts at the initial state and takes, at every state, one of the enabled actions with equal chances. To draw
one without trying them all, the actions are tried in random order until one is enabled: each of the enabled ones is then
equally likely to come first. Always is checked at every state, eventually where a walk cannot go on. What is found is
real, and replays from its seed; that nothing is found proves nothing, so the verdict is then *incomplete*.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from farref.model.checker.interface import Action, Budget, Kind, Model, ModelError, Property, Result, State
from farref.model.checker.run import OnProgress, Run
from farref.model.checker.shapes import Shape


def walk(
    model: Model,
    properties: Sequence[Property],
    *,
    seed: int,
    walks: int,
    steps_max: int,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    stop_at_violation: bool = True,
    on_progress: OnProgress | None = None,
) -> Result:
    """Take random walks, each up to steps_max actions long, until one breaks a property or the budget is spent."""
    run = Run("walk", model, properties, budget, on_progress)
    run.notes.append(f"seed {seed}")
    try:
        Shape(model.initial)
        walker = Walker(model, run, Random(seed))
        for _ in range(walks):
            walker.walk(steps_max)
            run.tell(0)
            if run.is_spent() or (stop_at_violation and run.violated):
                break
    except KeyboardInterrupt:
        run.cut = "interrupted"
    return run.result()


class Walker:
    """Takes walks, and remembers every state it has been to."""

    def __init__(self, model: Model, run: Run, random: Random) -> None:
        self.model, self.run, self.random = model, run, random
        self.order = list(range(len(run.actions)))
        self.seen = {model.initial}

    def walk(self, steps_max: int) -> None:
        """Take one walk, up to the first violation on it."""
        state: State = self.model.initial
        actions: list[Action] = []
        self._inspect(state, ())
        broken = len(self.run.counterexamples)
        while len(actions) < steps_max and len(self.run.counterexamples) == broken:
            move = self._draw(state)
            if move is None:
                self._look_for_broken(Kind.EVENTUALLY, state, tuple(actions))
                return
            action, state = move
            actions.append(action)
            self._count(state, len(actions))
            self._inspect(state, tuple(actions))

    def _draw(self, state: State) -> tuple[Action, State] | None:
        order = self.order
        for tried in range(len(order)):
            other = self.random.randrange(tried, len(order))
            order[tried], order[other] = order[other], order[tried]
            action = self.run.actions[order[tried]]
            target = self.model.step(state, action)
            if target is not None:
                self.run.fired[order[tried]] += 1
                return action, target
        return None

    def _count(self, state: State, steps: int) -> None:
        try:
            self.seen.add(state)
        except TypeError as error:
            raise ModelError(f"a state cannot be hashed: {error}; see model/values.py for what it may hold") from error
        self.run.distinct = len(self.seen)
        self.run.generated += 1
        self.run.depth = max(self.run.depth, steps + 1)

    def _inspect(self, state: State, actions: tuple[Action, ...]) -> None:
        for wanted in self.run.unreached():
            if any(case.holds(state) for case in wanted.cases):
                self.run.witnesses[wanted.id] = actions
        self._look_for_broken(Kind.ALWAYS, state, actions)

    def _look_for_broken(self, kind: Kind, state: State, actions: tuple[Action, ...]) -> None:
        for property_ in self.run.of_kind(kind):
            for case in property_.cases:
                if not case.holds(state):
                    self.run.violate(property_, case, actions)
                    break
