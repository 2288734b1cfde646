"""How the worlds of schedules of RRefs are drawn, and what such schedules are like."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from farref.model.rref import messages as msg
from farref.model.rref.world import Bounds
from farref.properties.rref import limits
from farref.properties.twin.candidates import LATE
from farref.properties.twin.schedule import Temperaments

TEMPERAMENTS: Final = Temperaments(
    eagerness={"begin": 3.0, "let go": 0.5, "finish": 0.5, "deliver": 2.0, LATE: 0.02, "shut down": 0.03, "cut": 0.1},
    # Most of what is awkward happens before a creation has arrived (R21).
    kinds={**{kind.__name__: 1 for kind in (*msg.USER_CALLS, *msg.CONTROL, msg.Ack)}, "RemoteCall": 6},
    apart=frozenset({"exclude", "follow views", "cut", "mend"}),
    without={"RemoteCall": ("CreateLocal", "CreateOnSelf")},
)

FORKS_DRAWN_MAX: Final = 10


def draw_bounds(random: Random, fixed: dict[str, Any]) -> Bounds:
    """Draw the size of a world and what may go wrong in it; bounds that are fixed are the same in all of them."""
    return _fitting(replace(_draw_bounds(random), **fixed), fixed)


def unfit(fixed: dict[str, Any]) -> str | None:
    """Say what is wrong with bounds that are the same in all schedules."""
    return limits.complaint(replace(Bounds(rrefs=1, forks=1), **fixed))


def _draw_bounds(random: Random) -> Bounds:
    rrefs = random.choice((1, 1, 1, 2, 2, 3))
    return Bounds(
        workers=random.choice((2, 3, 3, 4)),
        rrefs=rrefs,
        forks=random.randint(1, min(5, FORKS_DRAWN_MAX // rrefs)),
        drops=random.randint(0, 2),
        duplicates=random.randint(0, 2),
        timeouts=random.randint(0, 2),
        fetches=random.randint(0, 3),
        failures=random.randint(0, 2),
        results=random.random() < 0.6,
        owner_shares=random.random() < 0.9,
        self_shares=random.random() < 0.7,
        shutdown=random.random() < 0.5,
    )


def _fitting(bounds: Bounds, fixed: dict[str, Any]) -> Bounds:
    """Shrink what is not fixed until the world is no larger than allowed."""
    if bounds.forks_total <= limits.FORKS_TOTAL_MAX:
        return bounds
    if "rrefs" in fixed:
        return replace(bounds, forks=limits.FORKS_TOTAL_MAX // bounds.rrefs)
    return replace(bounds, rrefs=limits.FORKS_TOTAL_MAX // bounds.forks)
