"""What a step is about: the fork, the other fork, the RRef. A step may be taken at any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.properties.proof.induction.theory import Case
from farref.properties.proof.logic.formulas import Formula, Related, Variable, same
from farref.properties.proof.rref.state import FORK, RREF, State, rref_of

Step = Case[State]


@dataclass(frozen=True)
class Point:
    """Where a step is taken."""

    fork: Variable
    other: Variable  # a second fork: the parent of the first, or what it is shared from
    rref: Variable
    stays: Formula  # the message stays in flight, so what arrives is a copy
    as_call: Formula  # shared as an argument, and not in a result

    @property
    def mine(self) -> Formula:
        """Say that the fork belongs to the RRef."""
        return same(rref_of(self.fork), self.rref)


POINT: Final = Point(
    Variable("f", FORK), Variable("g", FORK), Variable("r", RREF), Related("stays", ()), Related("as_call", ())
)
