"""The fast engine: the same search as `reference.py`, a whole chunk of states at a time.

It knows no more of the model than the reference engine does: it calls the same step function and the same predicates, on
views (`views.py`) that record what they read. What was read is the footprint; whatever a function did once holds for all
states with the same footprint (`footprints.py`), so after a few thousand calls the tables (`learned.py`) answer for
millions of states. States are rows of packed bits (`columns.py`), successors are bits to flip (`outcomes.py`), and whether a
state is new is decided by its 64-bit fingerprint (`visited.py`). Two states with the same fingerprint would be taken for
one; the result tells how likely that was to happen at all.

Levels, and the choice of property, case and length among violations, are those of the reference engine; where several runs
are shortest, another one may be told. Eventually needs to know of cycles:
`ranking.py` proves from the footprints that there are none. Where it cannot, the reference engine looks at the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from farref.model.checker.audit import audit_cases, audit_steps
from farref.model.checker.chunks import Chunk, Numbers
from farref.model.checker.columns import Columns, TooNarrow
from farref.model.checker.interface import Action, Budget, Kind, Model, Property, Result
from farref.model.checker.judges import Finds, Judges
from farref.model.checker.orbits import Orbits
from farref.model.checker.origins import Origins
from farref.model.checker.reference import judge_cycles
from farref.model.checker.run import OnProgress, Run
from farref.model.checker.shapes import Shape
from farref.model.checker.slots import Words
from farref.model.checker.successors import Candidates, Expander
from farref.model.checker.visited import Visited

CHUNK = 5 << 12  # larger is faster and needs more memory: 1 << 15 takes 6 % less time, and 40 MB more
AUDIT_EVERY = 4  # chunks of a level, beginning with its first
GRAPH_STATES_MAX = 300_000


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
    run = Run("fast", model, properties, budget, on_progress)
    return search_all(run, partial(Search, model, run, symmetry, stop_at_violation))


def search_all(run: Run, make: Callable[[dict[int, int]], Search]) -> Result:
    """Make a search and carry it out, and begin again wherever a column proves too narrow."""
    bits_wanted: dict[int, int] = {}
    while True:
        try:
            search = make(bits_wanted)
            search.explore()
            search.decide_cycles()
        except TooNarrow as narrow:
            bits_wanted[narrow.column] = narrow.bits
            run.begin_again()
            continue
        except KeyboardInterrupt:
            run.cut, run.complete = "interrupted", False
        return run.result()


class Level(NamedTuple):
    """The states of one depth: packed rows, fingerprints (one array for each renaming), the number of the first."""

    rows: Words
    prints: list[Words]
    start: int

    def chunks(self, columns: Columns) -> Iterator[tuple[int, Chunk]]:
        """Cut the level into chunks, told with the position of their first state."""
        for begin in range(0, len(self.rows), CHUNK):
            yield begin, Chunk(columns, self.rows[begin : begin + CHUNK])


class Rest(NamedTuple):
    """A state that breaks an eventually-property and that nothing changes, though actions are enabled: the first is shown."""

    depth: int
    order: int  # of the case
    length: int  # the number of actions that are enabled
    number: int  # of the state


class Search:
    """The states of the level at hand, the fingerprints of all, and how each was found."""

    print_words, print_bits = 1, 64

    def __init__(
        self, model: Model, run: Run, symmetry: bool, stop_at_violation: bool, bits_wanted: dict[int, int]
    ) -> None:
        self.model, self.run, self.stop_at_violation = model, run, stop_at_violation
        shape = Shape(model.initial)
        self.columns = Columns(shape, bits_wanted)
        orbits = Orbits(shape, model.renamings() if symmetry else ())
        self.expander = Expander(model, run.actions, self.columns, orbits, self.print_words)
        self.judges = Judges(run, self.columns)
        self.visited, self.origins = Visited(), Origins(len(run.actions))
        self.rests: dict[str, Rest] = {}  # by property

    def explore(self) -> None:
        """Go through the levels until nothing new is found, something broke, or the budget is spent."""
        try:
            self._go_through_levels()
        finally:
            self._take_notes()

    def first_level(self) -> Level:
        """Give the level that the search begins with."""
        level = Level(np.zeros((1, 1), np.uint64), self.expander.outcomes.initial_prints(), 0)
        self.visited.add(smallest(level.prints))
        return level

    def keep(self, level: Level) -> None:
        """Take note that all levels before this one are done. In memory there is nothing to do."""

    def _go_through_levels(self) -> None:
        level = self.first_level()
        while len(level.rows):
            self._inspect(level)
            if self._is_over() or self.run.is_spent(self.run.depth):
                return
            level = self._expand(level)
            if self._is_over():
                return
            self.run.depth += bool(len(level.rows))
            self.keep(level)
            self.run.tell(len(level.rows), at_once=True)
        self.run.complete = self.run.cut is None

    def _is_over(self) -> bool:
        return self.stop_at_violation and self.run.violated

    def _inspect(self, level: Level) -> None:
        finds: Finds = {}
        for number, (begin, chunk) in enumerate(level.chunks(self.columns)):
            self.run.tell(len(level.rows))
            self.judges.inspect(chunk, level.start + begin, finds)
            if number % AUDIT_EVERY == 0:
                audit_cases(self.judges, chunk)
        self.judges.report(finds, self.path)

    def _expand(self, level: Level) -> Level:
        """Find the states of the next level, and judge those of this one that have no successors."""
        found: list[tuple[Words, list[Words]]] = []
        ends: Finds = {}
        for number, (begin, chunk) in enumerate(level.chunks(self.columns)):
            self.run.tell(len(level.rows) - begin)
            if self.run.is_spent():
                break
            candidates = self.expander.successors(chunk)
            if number % AUDIT_EVERY == 0:
                audit_steps(self.model, self.expander, chunk, candidates)
            self._judge_ends(chunk, candidates, level.start + begin, ends)
            found.append(self._add(level, begin, candidates))
        self.judges.report(ends, self.path)
        return self._next_level(level, found)

    def _judge_ends(self, chunk: Chunk, candidates: Candidates, start: int, ends: Finds) -> None:
        if self.run.of_kind(Kind.EVENTUALLY):
            self.judges.inspect_ends(chunk, candidates.ends(chunk.size), start, ends)
            for length, rows in candidates.rests(chunk.size):
                rests: Finds = {}
                self.judges.inspect_ends(chunk, rows, start, rests)
                for name, (order, number) in rests.items():
                    rest = Rest(self.run.depth, order, length, number)
                    self.rests[name] = min(rest, self.rests.get(name, rest))

    def _add(self, level: Level, begin: int, candidates: Candidates) -> tuple[Words, list[Words]]:
        """Enter a chunk's successors into the books; give the rows and fingerprints of those that are new."""
        outcomes = self.expander.outcomes
        parents = candidates.parents + begin
        prints = [
            mine.take(parents) ^ flips.take(candidates.outcomes)
            for mine, flips in zip(level.prints, outcomes.prints, strict=True)
        ]
        new = self.visited.add(smallest(prints))
        new = new.take(
            np.argsort(parents.take(new), kind="stable")
        )  # by parent, then by action: what is listed first is told first
        parents = parents.take(new)
        self.origins.add(parents + level.start, candidates.actions(new))
        self._count(candidates, new.size)
        rows = self.rows_after(level, parents, candidates.outcomes.take(new))
        return rows, [one.take(new) for one in prints]

    def rows_after(self, level: Level, parents: Numbers, outcomes: Numbers) -> Words:
        """Give the rows that outcomes make of their parents'; these may be narrower, and what they lack is zero."""
        rows: Words = self.expander.outcomes.rows.take(outcomes, axis=0)
        rows[:, : level.rows.shape[1]] ^= level.rows.take(parents, axis=0)
        return rows

    def _count(self, candidates: Candidates, new: int) -> None:
        self.run.distinct += new
        self.run.generated += len(candidates.parents)
        for action, count in enumerate(candidates.counts().tolist()):
            self.run.fired[action] += count

    def _next_level(self, level: Level, found: list[tuple[Words, list[Words]]]) -> Level:
        """Join what the chunks found, letting go of each part once it is copied: this is when memory is tightest."""
        size = sum(len(rows) for rows, _ in found)
        rows = np.zeros((size, max(1, self.columns.words)), np.uint64)
        prints = [np.zeros(size, np.uint64) for _ in level.prints]
        while found:
            some_rows, some_prints = found.pop()
            begin = size - len(some_rows)
            rows[begin:size, : some_rows.shape[1]] = some_rows
            for one, some in zip(prints, some_prints, strict=True):
                one[begin:size] = some
            size = begin
        return Level(rows, prints, level.start + len(level.rows))

    def path(self, number: int) -> tuple[Action, ...]:
        """List the actions of a shortest run from the initial state."""
        return tuple(self.run.actions[action] for action in self.origins.path(number))

    def _take_notes(self) -> None:
        run, orbit = self.run, 1 + len(self.expander.orbits.renamings)  # which has several fingerprints
        run.collision_bound = run.distinct**2 * orbit / 2 ** (self.print_bits + 1)
        run.notes.append(f"{self.expander.calls} calls of step, {self.judges.calls} of predicates")
        run.notes.append(
            f"a state is {self.columns.words} words of 64 bits, and its fingerprint {self.print_bits} bits"
        )

    def decide_cycles(self) -> None:
        """Decide the eventually-properties: by proof if there is one, else by looking at the graph, if it is small."""
        run = self.run
        eventually = run.of_kind(Kind.EVENTUALLY)
        if not run.complete or not eventually:
            return
        if self.expander.never_returns():
            run.notes.append("no run returns to a state it left: proved from the footprints")
            self._report_rests()
        elif run.distinct <= GRAPH_STATES_MAX:
            run.adopt_cycles(judge_cycles(self.model, run))
        else:
            run.undecided |= {one.id for one in eventually}
            run.notes.append(
                f"eventually is undecided: cycles could not be excluded, and {run.distinct} states are too many"
            )

    def _report_rests(self) -> None:
        """Note the eventually-properties that break because a run stays in a state that nothing changes."""
        broken = [one for one in self.run.of_kind(Kind.EVENTUALLY) if one.id in self.rests]
        for property_ in sorted(broken, key=lambda one: self.rests[one.id].depth):
            rest = self.rests[property_.id]
            entry = self.path(rest.number)
            state = reduce(self.model.step, entry, self.model.initial)
            circle = [action for action in self.run.actions if self.model.step(state, action) is not None]
            self.run.violate(property_, property_.cases[rest.order], (*entry, *circle), len(entry))


def smallest(prints: list[Words]) -> Words:
    """Give the fingerprint of each state's orbit; 0 is kept free, for it marks a free place among the visited."""
    return np.maximum(reduce(np.minimum, prints), np.uint64(1))
