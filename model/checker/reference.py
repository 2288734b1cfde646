"""The reference engine: breadth-first search over plain Python states, short enough to be believed.

States are numbered in the order they are found, level by level, so that a state's number orders it by depth and its
`origin` (parent, action) leads back to the initial state along a shortest path. A level is checked before it is expanded:
first always and sometimes on each of its states, then, while expanding, which of its states are terminal. Among several
violations the first by depth, then always before eventually, then order of properties, cases and states is the one shown.
Cycles are looked for after the search (`cycles.py`), as only then all of them are there to be seen.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from farref.model.checker.cycles import decide_cycles, has_cycle
from farref.model.checker.interface import Action, Budget, Kind, Model, ModelError, Property, Result, State
from farref.model.checker.orbits import Orbits
from farref.model.checker.run import OnProgress, Run
from farref.model.checker.shapes import Shape

TICK = 256  # states between two looks at the clock
RECHECK = 64  # one state in so many is expanded twice, to see whether step is deterministic


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
    search = Search(model, run, symmetry, stop_at_violation)
    with collector_off():
        try:
            search.explore()
            if run.complete:
                search.decide_cycles()
        except KeyboardInterrupt:
            run.cut, run.complete = "interrupted", False
    return run.result()


@contextmanager
def collector_off() -> Iterator[None]:
    """Spare the garbage collector millions of immutable states; they hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Search:
    """All states found so far, how each was found, and where each leads."""

    def __init__(self, model: Model, run: Run, symmetry: bool, stop_at_violation: bool) -> None:
        self.model, self.run, self.stops, self.symmetry = model, run, stop_at_violation, symmetry
        shape = Shape(model.initial)  # refuses leaves that cannot be hashed
        self.key: Callable[[State], Hashable] | None = Orbits(shape, model.renamings()).key if symmetry else None
        self.states: list[State] = []
        self.origins: list[tuple[int, int]] = []
        self.numbers: dict[Hashable, int] = {}
        self.moves: list[list[tuple[int, int]]] | None = [] if run.of_kind(Kind.EVENTUALLY) else None

    def explore(self) -> None:
        """Go through the levels until nothing new is found, something broke, or the budget is spent."""
        self._number(self.model.initial, (-1, -1))
        level = range(1)
        while level:
            self._inspect(level)
            if self._is_over() or self.run.is_spent(self.run.depth):
                return
            expanded, terminals = self._expand(level)
            self._inspect_ends(terminals)
            if self._is_over():
                return
            level = range(level.stop, len(self.states))
            self.run.depth += bool(level)
            self.run.tell(len(level), at_once=True)
        self.run.complete = self.run.cut is None

    def decide_cycles(self) -> None:
        """Decide the eventually-properties, now that all cycles are known; without symmetry, which hides who was fair."""
        if self.moves is None or not has_cycle(self.moves):
            return
        if self.symmetry:
            whole = Search(self.model, self.run, symmetry=False, stop_at_violation=False)
            counts = self.run.checkpoint()
            whole.explore()
            self.run.restore(counts)
            self.run.notes.append("cycles were examined without symmetry")
            whole.decide_cycles()
        else:
            decide_cycles(self.run, self.states, self.moves, self.path)

    def path(self, number: int) -> tuple[Action, ...]:
        """List the actions of a shortest run from the initial state."""
        actions: list[Action] = []
        while number:
            number, action = self.origins[number]
            actions.append(self.run.actions[action])
        return tuple(reversed(actions))

    def _number(self, state: State, origin: tuple[int, int]) -> int:
        try:
            key = state if self.key is None else self.key(state)
            number = self.numbers.setdefault(key, len(self.states))
        except TypeError as error:
            raise ModelError(f"a state cannot be hashed: {error}; see model/values.py for what it may hold") from error
        if number == len(self.states):
            self.states.append(state)
            self.origins.append(origin)
        return number

    def _inspect(self, level: range) -> None:
        states = self.states
        for wanted in self.run.unreached():
            found = (number for case in wanted.cases for number in level if case.holds(states[number]))
            if (number := next(found, None)) is not None:
                self.run.witnesses[wanted.id] = self.path(number)
        self._look_for_broken(Kind.ALWAYS, level)

    def _inspect_ends(self, terminals: list[int]) -> None:
        self._look_for_broken(Kind.EVENTUALLY, terminals)

    def _look_for_broken(self, kind: Kind, numbers: Sequence[int]) -> None:
        states = self.states
        for property_ in self.run.of_kind(kind):
            broken = ((case, n) for case in property_.cases for n in numbers if not case.holds(states[n]))
            if found := next(broken, None):
                self.run.violate(property_, found[0], self.path(found[1]))

    def _is_over(self) -> bool:
        return self.stops and bool(self.run.violated)

    def _expand(self, level: range) -> tuple[int, list[int]]:
        """Find the successors of a level's states; give how many were expanded and which have none."""
        terminals = []
        for number in level:
            if number % TICK == 0 and self.run.is_spent():
                return number - level.start, terminals
            moves = self._successors(number)
            if not moves:
                terminals.append(number)
        return len(level), terminals

    def _successors(self, number: int) -> list[tuple[int, int]]:
        ...
