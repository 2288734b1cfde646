"""How large a world anybody may ask for: beyond these bounds a mistyped number would be a search without end."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from farref.model.rref.ids import WORKER_NAMES
from farref.model.rref.world import Bounds

LIMITS: Final = {"workers": (2, len(WORKER_NAMES)), "rrefs": (1, 15), "forks": (1, 15)}
"""The smallest and largest value of the bounds that have limits of their own."""

OTHER_LIMITS: Final = (0, 9)
FORKS_TOTAL_MAX: Final = 15


def limits_of(name: str) -> tuple[int, int]:
    """Tell the smallest and the largest value of a bound."""
    return LIMITS.get(name, OTHER_LIMITS)


def complaint(bounds: Bounds) -> str | None:
    """Say what is wrong with some bounds, and what is allowed; None if nothing is wrong."""
    for bound in fields(Bounds):
        value = getattr(bounds, bound.name)
        smallest, largest = limits_of(bound.name)
        if not isinstance(value, bool) and not smallest <= value <= largest:
            return f"{bound.name} is {value}; allowed is {smallest} to {largest}"
    if bounds.forks_total > FORKS_TOTAL_MAX:
        return f"{bounds.rrefs} RRefs with {bounds.forks} forks each; allowed is rrefs x forks <= {FORKS_TOTAL_MAX}"
    return None
