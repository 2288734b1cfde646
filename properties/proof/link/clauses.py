"""The clauses of the proof as checks of single states: what is proved of all states, looked up in one."""

from __future__ import annotations

from functools import cache
from typing import Final

from farref.properties.proof.logic.small import Check, Small, compiled
from farref.properties.proof.rref.liveness import LIVENESS
from farref.properties.proof.rref.safety import RREFS, SAFETY

CLAUSES: Final = (*SAFETY.invariant, *LIVENESS.invariant, *SAFETY.goals)
"""Every clause and every property of one state."""


@cache
def checks() -> dict[str, Check]:
    """Write every clause and every property as a function of a state, once."""
    return {one.id: compiled(one.holds(RREFS.state)) for one in CLAUSES}


def broken(state: Small) -> list[str]:
    """Name the clauses and properties that do not hold in a state."""
    return [name for name, holds in checks().items() if not holds(state)]
