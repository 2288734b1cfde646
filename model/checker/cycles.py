"""Runs that go round for ever: strongly connected components, weak fairness, and a loop to show for it.

A run that never ends stays, from some point on, within one strongly connected component and visits some part of it again
and again. It never sees a case hold from then on exactly if it stays among the states that violate the case; so the
components of that subgraph are the candidates. Weak fairness (an action enabled without pause is taken in the end) rules
out those in which some action is enabled in every state yet never taken inside: a run staying there, or in any part of
it, starves that action. Every other component is guilty, since the run that visits all its states and takes all its
inner moves over and over is fair. A state without successors is no cycle; the search judges those itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from farref.model.checker.interface import Action, Kind, Property, State
from farref.model.checker.run import Run

Moves = list[tuple[int, int]]
"""The moves from one state: (action, target), both as numbers."""


def has_cycle(moves: Sequence[Moves]) -> bool:
    """Say whether any run can go round for ever."""
    everything = range(len(moves))
    return any(is_cyclic(moves, component) for component in components(moves, everything))


class Loop(NamedTuple):
    """A fair loop that never sees a case hold: how deep it begins, the case (by order), and the actions of both parts."""

    depth: int
    order: int
    length: int
    entry: tuple[Action, ...]
    circle: tuple[Action, ...]


def find_fair_loops(
    run: Run, states: Sequence[State], moves: Sequence[Moves], path: Callable[[int], tuple[Action, ...]]
) -> None:
    """Note each eventually-property that a fair loop breaks, beginning with the loop nearest to the initial state."""
    found: list[tuple[Property, Loop]] = []
    for property_ in run.of_kind(Kind.EVENTUALLY):
        loops: list[Loop] = []
        for order, case in enumerate(property_.cases):
            without = {number for number, state in enumerate(states) if not case.holds(state)}
            for component in components(moves, without):
                if is_cyclic(moves, component) and is_fair(moves, component):
                    entry = path(min(component))
                    circle = tuple(run.actions[action] for action in fair_walk(moves, component))
                    loops.append(Loop(len(entry), order, len(circle), entry, circle))
        if loops:
            found.append((property_, min(loops, key=lambda loop: loop[:3])))
    for property_, loop in sorted(found, key=lambda pair: pair[1].depth):
        run.violate(property_, property_.cases[loop.order], loop.entry + loop.circle, loop.depth)


def is_cyclic(moves: Sequence[Moves], component: set[int]) -> bool:
    """Say whether a component has a move inside it at all."""
    return len(component) > 1 or any(target in component for number in component for _, target in moves[number])


def is_fair(moves: Sequence[Moves], component: set[int]) -> bool:
    """Say whether a run may stay inside without starving an action that is always enabled there."""
    taken = {action for number in component for action, target in moves[number] if target in component}
    always = set.intersection(*({action for action, _ in moves[number]} for number in component))
    return always <= taken


def components(moves: Sequence[Moves], within: Collection[int]) -> Iterator[set[int]]:
    """Give the strongly connected components of part of a graph."""
    tarjan = Tarjan(moves, within)
    for root in within:
        if root not in tarjan.index:
            yield from tarjan.from_root(root)


class Tarjan:
    """Tarjan's algorithm with a stack of its own, as runs are longer than Python's stack is deep."""

    def __init__(self, moves: Sequence[Moves], within: Collection[int]) -> None:
        self.moves, self.within = moves, within
        self.index: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.open: dict[int, None] = {}  # the states whose component is not known yet, in order of discovery
        self.calls: list[tuple[int, Iterator[tuple[int, int]]]] = []

    def from_root(self, root: int) -> Iterator[set[int]]:
        """Give the components that can be reached from a state and were not given before."""
        self._enter(root)
        while self.calls:
            number, rest = self.calls[-1]
            if not self._descend(number, rest):
                self.calls.pop()
                if self.calls:
                    self._lower(self.calls[-1][0], self.low[number])
                if self.low[number] == self.index[number]:
                    yield self._close(number)

    def _enter(self, number: int) -> None:
        self.index[number] = self.low[number] = len(self.index)
        self.open[number] = None
        self.calls.append((number, iter(self.moves[number])))

    def _descend(self, number: int, rest: Iterator[tuple[int, int]]) -> bool:
        for _, target in rest:
            if target in self.open:
                self._lower(number, self.index[target])
            elif target not in self.index and target in self.within:
                self._enter(target)
                return True
        return False

    def _lower(self, number: int, bound: int) -> None:
        self.low[number] = min(self.low[number], bound)

    def _close(self, number: int) -> set[int]:
        component: set[int] = set()
        while number not in component:
            component.add(self.open.popitem()[0])
        return component


def fair_walk(moves: Sequence[Moves], component: set[int]) -> list[int]:
    """Find a short closed walk, from the component's first state, on which no action starves."""
    start = here = min(component)
    walk: list[int] = []
    starving = {action for action, _ in moves[start]}
    while starving:
        steps = _shortest_walk(moves, component, here, _feeds(moves, min(starving)))
        for action, here in steps:
            walk.append(action)
            starving &= {enabled for enabled, _ in moves[here]} - {action}
    if here != start:
        walk += [action for action, _ in _shortest_walk(moves, component, here, lambda _, target: target == start)]
    return walk


def _feeds(moves: Sequence[Moves], hungry: int) -> Callable[[int, int], bool]:
    """Say of a move whether after it an action no longer starves: it was taken, or is not enabled any more."""
    return lambda action, target: action == hungry or all(enabled != hungry for enabled, _ in moves[target])


def _shortest_walk(
    moves: Sequence[Moves], component: set[int], start: int, is_goal: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """List the moves of a shortest walk inside a component whose last move is a goal."""
    walks: deque[tuple[int, list[tuple[int, int]]]] = deque([(start, [])])
    seen = {start}
    while walks:
        here, walk = walks.popleft()
        for action, target in moves[here]:
            if target in component and is_goal(action, target):
                return [*walk, (action, target)]
            if target in component and target not in seen:
                seen.add(target)
                walks.append((target, [*walk, (action, target)]))
    raise AssertionError("a strongly connected component has a walk between any two of its states")
