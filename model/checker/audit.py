"""Spot checks: does a function do the same on a view as on the state itself?

Views are faithful as long as a model keeps to the operations in `values.py`. Most others fail on a view, but not all: asked
whether `type(part) is Fork`, a view just is no Fork. So now and then one state is unpacked and everything is tried on it, the
plain way, and compared with what the tables say. A sample, not a proof: the reference engine is the judge.
"""

from __future__ import annotations

import numpy as np

from farref.model.checker.chunks import Chunk
from farref.model.checker.interface import Model, ModelError, State
from farref.model.checker.judges import Judges
from farref.model.checker.outcomes import Outcomes
from farref.model.checker.successors import Candidates, Expander

LIKELY_CAUSE = (
    "does something else with a view of a state than with the state itself; "
    "does it use type(), identity, or anything else that model/values.py does not name?"
)


def audit_steps(model: Model, expander: Expander, chunk: Chunk, candidates: Candidates) -> None:
    """Compare what the tables say of one state's successors with what step says."""
    probe = chunk.size // 2
    row = chunk.row(probe)
    state = chunk.columns.state(row)
    own = np.flatnonzero(candidates.parents == probe)
    learned = dict(zip(candidates.actions(own).tolist(), candidates.outcomes[own].tolist(), strict=True))
    for number, action in enumerate(expander.actions):
        told = None if number not in learned else _successor(chunk, expander.outcomes, row, learned[number])
        if model.step(state, action) != told:
            raise ModelError(f"{action} {LIKELY_CAUSE}")


def _successor(chunk: Chunk, outcomes: Outcomes, row: list[int], outcome: int) -> State:
    flips = outcomes.rows[outcome].tolist()
    row = row + [0] * (len(flips) - len(row))
    return chunk.columns.state([word ^ flip for word, flip in zip(row, flips, strict=True)])


def audit_cases(judges: Judges, chunk: Chunk) -> None:
    """Compare what the tables say of one state with what the predicates say."""
    row = chunk.row(chunk.size // 2)
    state = chunk.columns.state(row)
    for property_ in judges.run.properties:
        for case, learned in zip(property_.cases, judges.cases[property_.id], strict=True):
            if bool(case.holds(state)) != bool(learned.footprints.result(row)):
                raise ModelError(f"{learned.footprints.name} {LIKELY_CAUSE}")
