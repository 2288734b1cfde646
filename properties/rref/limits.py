"""How large a world of references anybody may ask for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from farref.model.ids import WORKER_NAMES
from farref.model.rref.world import Bounds
from farref.properties.limits import Limits, outside

LIMITS: Final[Limits] = {"workers": (2, len(WORKER_NAMES)), "rrefs": (1, 15), "forks": (1, 15)}
FORKS_TOTAL_MAX: Final = 15


def complaint(bounds: Bounds) -> str | None:
    """Say what is wrong with some bounds, and what is allowed; None if nothing is wrong."""
    wrong = outside(asdict(bounds), LIMITS)
    if wrong is None and bounds.forks_total > FORKS_TOTAL_MAX:
        return f"{bounds.rrefs} RRefs with {bounds.forks} forks each; allowed is rrefs x forks <= {FORKS_TOTAL_MAX}"
    if wrong is None and bounds.joins and (bounds.joins > bounds.exclusions or bounds.joins > bounds.workers - 2):
        return (
            "a worker joins in place of one that is excluded; allowed is joins <= exclusions and joins <= workers - 2"
        )
    if wrong is None and {*bounds.latecomers} & bounds.owning:
        return "whoever joins later owns nothing; allowed is rrefs <= workers - joins"
    return wrong
