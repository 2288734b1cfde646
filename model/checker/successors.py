"""Successors of a chunk of states: every action, learned, and asked about all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from farref.model.checker.chunks import Chunk, Numbers
from farref.model.checker.columns import Columns
from farref.model.checker.footprints import Footprints
from farref.model.checker.interface import Action, Model, State
from farref.model.checker.learned import Learned
from farref.model.checker.orbits import Orbits
from farref.model.checker.outcomes import DISABLED, STAY, Outcomes
from farref.model.checker.ranking import Move, is_acyclic


@dataclass
class Candidates:
    """The successors of a chunk's states, one action's after the other's: the parent (in the chunk) and outcome of each."""

    parents: Numbers
    outcomes: Numbers
    starts: Numbers  # where each action's successors begin, and the end

    def actions(self, positions: Numbers) -> Numbers:
        """Tell the actions that led to some of the successors."""
        return np.searchsorted(self.starts, positions, side="right") - 1

    def counts(self) -> Numbers:
        """Tell how often each action was taken."""
        return np.diff(self.starts)

    def ends(self, size: int) -> Numbers:
        """List the states that have no successor at all."""
        return np.flatnonzero(np.bincount(self.parents, minlength=size) == 0)

    def rests(self, size: int) -> Iterator[tuple[int, Numbers]]:
        """List the states that have no successor but themselves, by how many actions keep them there."""
        stays = self.outcomes == STAY
        if stays.any():
            staying = np.bincount(self.parents[stays], minlength=size)
            staying[self.parents[~stays]] = 0
            for count in np.unique(staying[staying > 0]).tolist():
                yield count, np.flatnonzero(staying == count)


class Expander:
    """All actions of a model, learned."""

    def __init__(
        self, model: Model, actions: tuple[Action, ...], columns: Columns, orbits: Orbits, print_words: int = 1
    ) -> None:
        self.actions, self.columns, self.orbits = actions, columns, orbits
        self.outcomes = Outcomes(columns, orbits, print_words)
        self.moves_before: list[Move] = []
        """What was seen before the search was taken up again."""
        self.steps = [self._learned(model, action) for action in actions]

    def _learned(self, model: Model, action: Action) -> Learned:
        footprints = Footprints(self.columns, str(action), partial(_step, model, action), self.outcomes.conclude)
        return Learned(footprints, DISABLED)

    @property
    def calls(self) -> int:
        """The number of times the step function was called."""
        return sum(step.footprints.calls for step in self.steps)

    def successors(self, chunk: Chunk) -> Candidates:
        """Find the successors of all states of a chunk."""
        parents, outcomes, counts = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [0]
        for step in self.steps:
            selection = step.select(chunk)
            if not selection.size:
                counts.append(0)
                continue
            results = step.results(selection)
            enabled = np.flatnonzero(results >= 0)
            counts.append(enabled.size)
            parents.append(selection.pick(enabled))
            outcomes.append(results.take(enabled))
        return Candidates(np.concatenate(parents), np.concatenate(outcomes), np.cumsum(counts))

    def moves(self) -> list[Move]:
        """List all that actions were seen to do."""
        return self.moves_before + [
            Move(number, reads, self.outcomes.changes[outcome])
            for number, step in enumerate(self.steps)
            for reads, outcome in step.footprints.paths()
            if outcome > STAY
        ]

    def never_returns(self) -> bool:
        """Say whether it is certain that no run comes back to a state it has left."""
        moves = self.moves()
        renamed = [self._rename(which, move) for which in range(len(self.orbits.renamings)) for move in moves]
        return is_acyclic([*moves, *renamed], [len(values) for values in self.columns.values])

    def _rename(self, which: int, move: Move) -> Move:
        """Tell what a move is called after a renaming."""
        columns = self.columns

        def renamed(column: int, code: int) -> tuple[int, int]:
            leaf, value = self.orbits.rename(which, column, columns.values[column][code])
            return leaf, columns.name(leaf, value)

        reads = dict(renamed(column, code) for column, code in move.reads.items())
        changes = tuple((*renamed(column, old), renamed(column, new)[1]) for column, old, new in move.changes)
        return Move((which, move.action), reads, changes)


def _step(model: Model, action: Action, state: State) -> State | None:
    return model.step(state, action)
