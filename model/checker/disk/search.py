"""The search on disk: that of `fast.py`, where a level is made unique at its end, bucket by bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.disk import books
from farref.model.checker.disk.buckets import (
    ACTIONS_MAX,
    FOUND,
    PRINT,
    STATE,
    STATES_MAX,
    Buckets,
    first_of_each,
    marks_of,
)
from farref.model.checker.disk.folder import NO_ROOM, SUMMARY, Folder
from farref.model.checker.disk.recent import Recent
from farref.model.checker.disk.runs import Marks, Runs
from farref.model.checker.fast import Level, Rest, Search, search_all
from farref.model.checker.interface import Action, Budget, Model, ModelError, Property, Result
from farref.model.checker.run import OnProgress, Run
from farref.model.checker.slots import Words
from farref.model.checker.successors import Candidates

SHARES: Final = 8
"""A share of the memory is for the table of what came lately, and one for successors that are not on disk yet."""
BUCKETS, BUCKETS_MAX, AMPLE = 32, 1024, 1 << 32
"""With ample memory there are so many buckets, and more with less."""
SAVE_SECONDS = 5.0
PARENTS, ACTIONS = "parents", "actions"
NOTHING: Final = np.zeros((0, 1), np.uint64)
"""What a chunk leaves in memory. An empty part of its rows would keep all of them, until the end of the level."""


@dataclass(frozen=True)
class Place:
    """Where states are kept, how much memory may be used, and whether a search that was saved there goes on."""

    path: Path
    memory_max: int
    resume: bool = False


def check(
    model: Model,
    properties: Sequence[Property],
    place: Place,
    *,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    stop_at_violation: bool = True,
    on_progress: OnProgress | None = None,
) -> Result:
    """Search all reachable states, within the budget, for a violation of the properties."""
    run = Run("disk", model, properties, budget, on_progress)
    if len(run.actions) > ACTIONS_MAX:
        raise ModelError(f"a search on disk takes up to {ACTIONS_MAX} actions, and there are {len(run.actions)}")
    folder = Folder(place.path)
    with folder.locked():
        return search_all(run, partial(DiskSearch, model, run, stop_at_violation, folder, place))


class DiskSearch(Search):
    """The level at hand, the fingerprints of all states and how each was found: in files of a folder."""

    print_words, print_bits = 2, 80

    def __init__(
        self,
        model: Model,
        run: Run,
        stop_at_violation: bool,
        folder: Folder,
        place: Place,
        bits_wanted: dict[int, int],
    ) -> None:
        self.folder, self._world = folder, _world(model, run, stop_at_violation)
        self._before = self._saved() if place.resume and not bits_wanted else None
        if self._before is not None:
            bits_wanted |= {int(column): bits for column, bits in self._before["bits"].items()}
        super().__init__(model, run, False, stop_at_violation, bits_wanted)
        share = place.memory_max // SHARES
        self.buckets = Buckets(folder, self._before["buckets"] if self._before else _buckets(place.memory_max), share)
        self._save_at = 0.0  # the first level at once: a search that ends soon, as there is no room, can go on too
        self.runs, self.recent = Runs(folder, self.buckets.count), Recent(share)

    def explore(self) -> None:
        """Go through the levels. Without room on the disk the search stops, and can go on later."""
        try:
            super().explore()
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            self.run.cut, self.run.complete = f"stopped: there is no room in {self.folder.path}", False

    # Levels

    def first_level(self) -> Level:
        """Give the initial state, or the level that was saved last."""
        if self._before is not None:
            return self._taken_up(self._before)
        self.folder.begin()
        prints, marks = self.expander.outcomes.initial_prints()
        self._write_level(self.run.depth, np.zeros((1, 1), np.uint64), prints, marks.astype(np.uint16))
        self.runs.add(int(self.buckets.of(prints)[0]), prints, marks.astype(np.uint16))
        return self._level(self.run.depth, 0, 1)

    def _write_level(self, number: int, rows: Words, prints: Words, marks: Marks) -> None:
        arrays: tuple[NDArray[Any], ...] = (rows, prints, marks)
        for name, array in zip(_level_files(number), arrays, strict=True):
            self.folder.write(name, array)

    def _level(self, number: int, start: int, words: int) -> Level:
        kinds = (np.uint64, np.uint64, np.uint16)
        rows, *prints = (self.folder.view(*each) for each in zip(_level_files(number), kinds, strict=True))
        return Level(rows.reshape(-1, words), prints, start)

    def _add(self, level: Level, begin: int, candidates: Candidates) -> tuple[Words, list[Words]]:
        """Put a chunk's successors into their buckets, but for those that came lately."""
        outcomes, parents = self.expander.outcomes, candidates.parents + begin
        prints = level.prints[0].take(parents) ^ outcomes.prints[0].take(candidates.outcomes)
        marks = level.prints[1].take(parents) ^ outcomes.prints[1].take(candidates.outcomes).astype(np.uint16)
        new = self.recent.unmet(prints, marks)
        parents = parents.take(new)
        rows = self.rows_after(level, parents, candidates.outcomes.take(new))
        found_by = parents + level.start, candidates.actions(new)
        self.buckets.add(prints.take(new), marks.take(new), *found_by, rows)
        self._count(candidates, 0)
        return NOTHING, []

    def _next_level(self, level: Level, found: list[tuple[Words, list[Words]]]) -> Level:
        """Find out which of the successors are new, and write them down. A level that was cut short is left as it was."""
        found.clear()
        start = level.start + len(level.rows)
        number, words = self.run.depth + 1, max(1, self.columns.words)
        if self.run.cut is None:
            for bucket in range(self.buckets.count):
                self._settle(bucket, number, words)
                self.run.tell(self.run.distinct - start)
            self.buckets.clear()
        return self._level(number, start, words)

    def _settle(self, bucket: int, number: int, words: int) -> None:
        taken = self.buckets.take(bucket, words)
        firsts = first_of_each(taken)
        prints, marks = taken[firsts, PRINT], marks_of(taken[firsts, FOUND])
        new = self.runs.are_new(bucket, prints, marks)
        if not new.any():
            return
        self.run.distinct += int(new.sum())
        if self.run.distinct > STATES_MAX:
            raise ModelError(f"a search on disk takes up to {STATES_MAX} states")
        taken = taken.take(firsts[new], axis=0)
        self.runs.add(bucket, prints[new], marks[new])
        self._write_level(number, taken[:, STATE:], prints[new], marks[new])
        self.folder.write(PARENTS, taken[:, FOUND].astype(np.uint32))
        self.folder.write(ACTIONS, (taken[:, FOUND] >> np.uint64(32)).astype(np.uint16))

    def path(self, number: int) -> tuple[Action, ...]:
        """List the actions of a shortest run from the initial state."""
        parents, actions = self.folder.view(PARENTS, np.uint32), self.folder.view(ACTIONS, np.uint16)
        found: list[Action] = []
        while number:
            found.append(self.run.actions[actions[number - 1]])
            number = int(parents[number - 1])
        return tuple(found[::-1])

    # What is saved

    def keep(self, level: Level) -> None:
        """Save the books, unless that was done just now: from here on the search can go on. Older files are not needed then."""
        if self.run.cut is not None or self.run.seconds() < self._save_at:
            return
        number = self.run.depth
        self.folder.save({
            "world": self._world,
            "bits": self.columns.bits_wanted,
            "buckets": self.buckets.count,
            "level": [number, level.start, level.rows.shape[1], len(level.rows)],
            "columns": books.columns_written(self.columns),
            "drawn": books.drawn_written(self.expander.outcomes),
            "moves": books.moves_written(self.expander.moves()),
            "run": books.run_written(self.run),
            "rests": self.rests,
            "runs": self.runs.saved(),
        })  # fmt: skip
        self.folder.keep_only(self._files(number))
        self._save_at = self.run.seconds() + SAVE_SECONDS

    def _files(self, level: int) -> list[str]:
        return [SUMMARY, PARENTS, ACTIONS, *_level_files(level), *self.runs.files()]

    def _saved(self) -> dict[str, Any]:
        saved = self.folder.summary()
        if saved["world"] != self._world:
            raise ModelError(
                f"{self.folder.path} has the search of another world; give the same bounds, rules and properties"
            )
        return saved

    def _taken_up(self, saved: dict[str, Any]) -> Level:
        """Go on where the last level was saved."""
        number, start, words, size = saved["level"]
        books.read_columns(self.columns, saved["columns"])
        books.draw_again(self.expander.outcomes, saved["drawn"])
        self.expander.moves_before = books.read_moves(saved["moves"])
        books.read_run(self.run, saved["run"])
        self.rests = {id_: Rest(*rest) for id_, rest in saved["rests"].items()}
        self.runs.restore(saved["runs"])
        self.folder.keep_only(self._files(number))
        self.folder.cut(PARENTS, 4 * (start + size - 1))
        self.folder.cut(ACTIONS, 2 * (start + size - 1))
        return self._level(number, start, words)


def _level_files(number: int) -> list[str]:
    return [f"{name}-{number}" for name in ("rows", "prints", "marks")]


def _buckets(memory_max: int) -> int:
    wanted = BUCKETS * max(1, AMPLE // memory_max)
    return min(BUCKETS_MAX, 1 << (wanted - 1).bit_length())


def _world(model: Model, run: Run, stop_at_violation: bool) -> str:
    """Name what is searched: another model, other rules or other properties have another name."""
    told = [str(model.initial), *map(str, run.actions), str(getattr(model, "rules", "")), str(stop_at_violation)]
    told += [f"{one.id} {case.label}" for one in run.properties for case in one.cases]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
