"""What a step is about: besides a fork, a second one and an RRef there are a worker and a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import Variable
from farref.properties.proof.rref import point as rref
from farref.properties.proof.views.state import VIEW, WORKER, State

Step = Case[State]


@dataclass(frozen=True)
class Point(rref.Point):
    """Where a step is taken."""

    worker: Variable
    view: Variable


POINT: Final = Point(
    rref.POINT.fork,
    rref.POINT.other,
    rref.POINT.rref,
    rref.POINT.stays,
    rref.POINT.as_call,
    Variable("w", WORKER),
    Variable("v", VIEW),
)
