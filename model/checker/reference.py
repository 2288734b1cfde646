"""The reference engine: breadth-first search over plain Python states, short enough to be believed.

States are numbered in the order they are found, level by level, so that a state's number orders it by depth and its
`origin` (parent, action) leads back to the initial state along a shortest path. A level is checked before it is expanded:
first sometimes and always on each of its states, then, once expanded, eventually on those that have no successor. Among
several violations the first by depth, then always before eventually, then by order of properties, cases and states is the
one shown. Cycles are looked for after the search (`cycles.py`), as only then all of them are there to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from farref.model.checker.cycles import Moves, find_fair_loops, has_cycle
from farref.model.checker.interface import Action, Budget, Kind, Model, ModelError, Property, Result, State
from farref.model.checker.orbits import Orbits
from farref.model.checker.run import OnProgress, Run, collector_off
from farref.model.checker.shapes import Shape, check_steps

TICK = (
    64  # states between two looks at the clock; the first of them is expanded twice, to see whether step repeats itself
)


def check(
    model: Model,
    properties: Sequence[Property],
    *,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    symmetry: bool = False,
    stop_at_violation: bool = True,
    on_progress: OnProgress | None = None,
) -> Result:
    """Search all reachable states, within the budget, for a violation of the properties."""
    run = Run("reference", model, properties, budget, on_progress)
    with collector_off():
        try:
            search = Search(model, run, symmetry, stop_at_violation)
            search.explore()
            search.decide_cycles()
        except KeyboardInterrupt:
            run.cut, run.complete = "interrupted", False
    return run.result()


class Search:
    """All states found so far, how each was found, and where each leads."""

    def __init__(self, model: Model, run: Run, symmetry: bool, stop_at_violation: bool) -> None:
        self.model, self.run, self.symmetry, self.stop_at_violation = model, run, symmetry, stop_at_violation
        self.shape = Shape(model.initial)
        self.key: Callable[[State], Hashable] = Orbits(self.shape, model.renamings()).key if symmetry else lambda s: s
        self.states: list[State] = [model.initial]
        self.origins: list[tuple[int, int]] = [(-1, -1)]
        self.numbers: dict[Hashable, int] = {self.key(model.initial): 0}
        self.candidates: Callable[[State], Iterable[int]] = getattr(
            model, "candidates", lambda _: range(len(run.actions))
        )
        self.moves: list[Moves] | None = [] if run.of_kind(Kind.EVENTUALLY) else None

    def explore(self) -> None:
        """Go through the levels until nothing new is found, something broke, or the budget is spent."""
        level = range(1)
        while level:
            self._inspect(level)
            if self._is_over() or self.run.is_spent(self.run.depth):
                return
            self._look_for_broken(Kind.EVENTUALLY, self._expand(level))
            if self._is_over():
                return
            level = range(level.stop, len(self.states))
            self.run.depth += bool(level)
            self.run.tell(len(level), at_once=True)
        self.run.complete = self.run.cut is None

    def _is_over(self) -> bool:
        return self.stop_at_violation and self.run.violated

    def _inspect(self, level: range) -> None:
        for wanted in self.run.unreached():
            found = (number for case in wanted.cases for number in level if case.holds(self.states[number]))
            if (number := next(found, None)) is not None:
                self.run.witnesses[wanted.id] = self.path(number)
        self._look_for_broken(Kind.ALWAYS, level)

    def _look_for_broken(self, kind: Kind, numbers: Sequence[int]) -> None:
        for property_ in self.run.of_kind(kind):
            broken = ((case, n) for case in property_.cases for n in numbers if not case.holds(self.states[n]))
            if found := next(broken, None):
                self.run.violate(property_, found[0], self.path(found[1]))

    def _expand(self, level: range) -> list[int]:
        """Find the successors of a level's states; list the states that have none."""
        terminals = []
        for number in level:
            if number % TICK == 0:
                check_steps(self.model, self.shape, self.states[number], self.candidates(self.states[number]))
                self.run.tell(level.stop - number)
                if self.run.is_spent():
                    break
            moves = self._successors(number)
            self.run.generated += len(moves)
            if not moves:
                terminals.append(number)
            if self.moves is not None:
                self.moves.append(moves)
        return terminals

    def _successors(self, number: int) -> Moves:
        state, step, actions, fired = self.states[number], self.model.step, self.run.actions, self.run.fired
        moves: Moves = []
        for index in self.candidates(state):
            if (target := step(state, actions[index])) is not None:
                fired[index] += 1
                moves.append((index, self._number(target, (number, index))))
        return moves

    def _number(self, state: State, origin: tuple[int, int]) -> int:
        try:
            number = self.numbers.setdefault(self.key(state), len(self.states))
        except TypeError as error:
            raise ModelError(f"a state cannot be hashed: {error}; see model/values.py for what it may hold") from error
        if number == len(self.states):
            self.states.append(state)
            self.origins.append(origin)
            self.run.distinct += 1
        return number

    def path(self, number: int) -> tuple[Action, ...]:
        """List the actions of a shortest run from the initial state."""
        actions: list[Action] = []
        while number:
            number, action = self.origins[number]
            actions.append(self.run.actions[action])
        return tuple(reversed(actions))

    def decide_cycles(self) -> None:
        """Decide the eventually-properties, now that all cycles are known; unreduced, as symmetry hides who was fair."""
        if not self.run.complete or self.moves is None or not has_cycle(self.moves):
            return
        if self.symmetry:
            self.run.adopt_cycles(judge_cycles(self.model, self.run))
        else:
            find_fair_loops(self.run, self.states, self.moves, self.path)


def judge_cycles(model: Model, asked_by: Run) -> Run:
    """Decide the eventually-properties on the whole graph, for a search that cannot, within what is left of its time."""
    run = Run("reference", model, asked_by.of_kind(Kind.EVENTUALLY), asked_by.budget_left())
    with collector_off():
        search = Search(model, run, symmetry=False, stop_at_violation=False)
        search.explore()
        search.decide_cycles()
    return run
