"""The fast engine: the same search as `reference.py`, a whole chunk of states at a time.

It knows no more of the model than the reference engine does: it calls the same step function and the same predicates, on
views (`views.py`) that record what they read. What was read is the footprint; whatever a function did once holds for all
states with the same footprint (`footprints.py`), so after a few thousand calls the tables (`learned.py`) answer for
millions of states. States are rows of packed bits (`columns.py`), successors are bits to flip (`outcomes.py`), and whether a
state is new is decided by its 64-bit fingerprint (`visited.py`). Two states with the same fingerprint would be taken for
one; the result tells how likely that was to happen at all.

Levels, their order and the choice among violations are those of the reference engine. Eventually needs to know of cycles:
`ranking.py` proves from the footprints that there are none. Where it cannot, the reference engine looks at the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from farref.model.checker import reference
from farref.model.checker.audit import audit
from farref.model.checker.chunks import Chunk, Numbers, Selection
from farref.model.checker.columns import Columns, TooNarrow
from farref.model.checker.footprints import Footprints
from farref.model.checker.interface import Action, Budget, Case, Kind, Model, Property, Result
from farref.model.checker.learned import Learned
from farref.model.checker.orbits import Orbits
from farref.model.checker.origins import Origins
from farref.model.checker.outcomes import DISABLED, STAY, Outcomes
from farref.model.checker.ranking import is_acyclic
from farref.model.checker.run import OnProgress, Run
from farref.model.checker.shapes import Shape
from farref.model.checker.slots import Words
from farref.model.checker.visited import Visited

CHUNK = 1 << 14
REFERENCE_STATES_MAX = 300_000


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
    bits_wanted: dict[int, int] = {}
    while True:
        try:
            search = Search(model, run, symmetry, stop_at_violation, bits_wanted)
            search.explore()
            search.decide_cycles()
        except TooNarrow as narrow:
            bits_wanted[narrow.column] = narrow.bits
            run.begin_again()
            continue
        except KeyboardInterrupt:
            run.cut, run.complete = "interrupted", False
        return run.result()


@dataclass
class Level:
    """The states of one depth: their packed rows, their fingerprints, and the number of the first of them."""

    rows: Words
    prints: list[Words]
    start: int

    def __len__(self) -> int:
        return len(self.rows)


@dataclass
class Candidates:
    """The successors of a chunk's states: parent (in the chunk), outcome and action of each."""

    parents: Numbers
    outcomes: Numbers
    firsts: Numbers  # where each action's successors begin

    def actions(self, positions: Numbers) -> Numbers:
        """Tell the actions that led to some of the successors."""
        return np.searchsorted(self.firsts, positions, side="right") - 1


@dataclass
class Judge:
    """A case of a property, learned."""

    property: Property
    case: Case
    learned: Learned
    broken: int | None = None  # the first state found to break it (to satisfy it, for sometimes)
