"""How a schedule of RRefs is drawn from a seed: the size of its world, and its temperament; its steps, `stepper.py` draws.

Schedules drawn alike all look alike, and walks that choose evenly among the possible steps let go of everything early. So each
schedule has a temperament of its own: how eager it is to begin things, to let go, to deliver, to do harm, and which kinds of
message it keeps back as long as it can.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from farref.model.rref import messages as msg
from farref.model.rref.world import Bounds
from farref.properties.rref import limits
from farref.properties.rref.candidates import SORTS
from farref.properties.twin.schedule import Schedule

EAGERNESS: Final = {"begin": 3.0, "let go": 0.5, "finish": 0.5, "deliver": 2.0, "deliver late": 0.02, "shut down": 0.03}
"""How eager schedules are on average, by sort; 0.3 where nothing is said."""

KINDS: Final = (*(kind.__name__ for kind in (*msg.USER_CALLS, *msg.CONTROL)), "Ack")
COMMON: Final = tuple(6 if kind == "RemoteCall" else 1 for kind in KINDS)
"""How often each kind is kept back: most of what is awkward happens before a creation has arrived (R21)."""

SPREAD: Final = (0.1, 0.5, 1.0, 1.0, 2.0, 6.0)
FORKS_DRAWN_MAX: Final = 10


def draw_schedule(seed: int, number: int, fixed: dict[str, Any]) -> Schedule:
    """Draw a schedule; bounds that are fixed are the same in all of them."""
    random = Random(f"{seed}/{number}")
    bounds = _fitting(replace(_draw_bounds(random), **fixed), fixed)
    eagerness = tuple((sort, EAGERNESS.get(sort, 0.3) * random.choice(SPREAD)) for sort in SORTS)
    late = tuple(random.sample(KINDS, random.choice((0, 1, 1, 2)), counts=COMMON))
    return Schedule(seed, number, bounds, random.random() < 0.5, eagerness, late)


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
