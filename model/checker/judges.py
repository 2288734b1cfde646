"""The properties, learned: every case asked about a whole chunk of states at once."""

from __future__ import annotations

from collections.abc import Callable

from farref.model.checker.chunks import Chunk, Numbers
from farref.model.checker.columns import Columns
from farref.model.checker.footprints import Footprints
from farref.model.checker.interface import Action, Kind, Property
from farref.model.checker.learned import Learned
from farref.model.checker.run import Run
from farref.model.checker.views import Reader

Finds = dict[str, tuple[int, int]]
"""For a property, by id: which of its cases was decided, and the number of the state that decided it."""


class Judges:
    """The cases of all properties, and what they say of states."""

    def __init__(self, run: Run, columns: Columns) -> None:
        self.run = run
        self.cases = {
            one.id: [_learned(one, order, columns) for order in range(len(one.cases))] for one in run.properties
        }

    @property
    def calls(self) -> int:
        """The number of times predicates were called."""
        return sum(learned.footprints.calls for cases in self.cases.values() for learned in cases)

    def inspect(self, chunk: Chunk, start: int, finds: Finds) -> None:
        """Look for states that decide a sometimes- or break an always-property; `start` is the first state's number."""
        for property_ in (*self.run.unreached(), *self.run.of_kind(Kind.ALWAYS)):
            self._look(property_, chunk, None, start, finds)

    def inspect_ends(self, chunk: Chunk, rows: Numbers, start: int, finds: Finds) -> None:
        """Look for states that break an eventually-property, among those where a run may stay."""
        if rows.size:
            for property_ in self.run.of_kind(Kind.EVENTUALLY):
                self._look(property_, chunk, rows, start, finds)

    def _look(self, property_: Property, chunk: Chunk, rows: Numbers | None, start: int, finds: Finds) -> None:
        wanted = property_.kind is Kind.SOMETIMES
        for order, learned in enumerate(self.cases[property_.id]):
            if property_.id in finds and finds[property_.id][0] <= order:
                return
            selection = learned.select(chunk) if rows is None else chunk.only(rows)
            if not selection.size:
                continue
            decided = (learned.results(selection) == wanted).nonzero()[0]
            if decided.size:
                finds[property_.id] = order, start + int(selection.pick(decided)[0])

    def report(self, finds: Finds, path: Callable[[int], tuple[Action, ...]]) -> None:
        """Enter what was found into the books."""
        for property_ in self.run.properties:
            if property_.id in finds:
                order, number = finds[property_.id]
                if property_.kind is Kind.SOMETIMES:
                    self.run.witnesses[property_.id] = path(number)
                else:
                    self.run.violate(property_, property_.cases[order], path(number))


def _learned(property_: Property, order: int, columns: Columns) -> Learned:
    case = property_.cases[order]
    footprints = Footprints(columns, f"{property_.id} ({case.label})", case.holds, _conclude)
    return Learned(footprints, dull=0 if property_.kind is Kind.SOMETIMES else 1)


def _conclude(reader: Reader, answer: object) -> int:
    del reader
    return int(bool(answer))
