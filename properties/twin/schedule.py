"""A schedule, and how one is drawn from a seed: the size of its world and its temperament. `stepper.py` draws its steps.

Schedules drawn alike all look alike, and walks that choose evenly among the possible steps let go of everything early. So each
schedule has a temperament of its own: how eager it is to begin things, to let go, to deliver, to do harm, and which kinds of
message it keeps back as long as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

SPREAD: Final = (0.1, 0.5, 1.0, 1.0, 2.0, 6.0)
"""By how much schedules differ from the average."""

KEPT_BACK: Final = (0, 1, 1, 2)
"""How many kinds of message a schedule keeps back."""

JUDGED: Final = 0.125
"""After how many of its steps a schedule's properties are evaluated. After each step would cost a third of all schedules."""


@dataclass(frozen=True)
class Schedule:
    """One schedule before it is run: everything about it follows from its seed and number."""

    seed: int
    number: int
    bounds: Any
    restless: bool
    eagerness: tuple[tuple[str, float], ...]
    late: tuple[str, ...]  # the kinds of message that it keeps back

    def random(self) -> Random:
        """Give the source of its steps."""
        return Random(f"{self.seed}/{self.number}/steps")

    def judging(self) -> Callable[[], bool]:
        """Give what says after each step whether what must always hold is evaluated."""
        random = Random(f"{self.seed}/{self.number}/judging").random
        return lambda: random() < JUDGED


@dataclass(frozen=True)
class Temperaments:
    """What the schedules of a protocol are like on average."""

    eagerness: Mapping[str, float]  # by sort of step; 0.3 where nothing is said
    kinds: Mapping[str, int]  # the kinds of message, and how often each is kept back
    apart: frozenset[str] = (
        frozenset()
    )  # sorts that came later: drawn from a source of their own, so that no schedule changes
    without: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # by kind of message: actions that do without it


def draw_schedule(
    seed: int,
    number: int,
    bounds: Callable[[Random], Any],
    sorts: Iterable[str],
    temperaments: Temperaments,
    kept_back: tuple[int, ...] = KEPT_BACK,
) -> Schedule:
    """Draw a schedule: its bounds, then how eager it is for each sort of step, then what it keeps back."""
    random = Random(f"{seed}/{number}")
    drawn, average = bounds(random), temperaments.eagerness
    sources = {sort: Random(f"{seed}/{number}/{sort}") for sort in temperaments.apart}
    eagerness = tuple((sort, average.get(sort, 0.3) * sources.get(sort, random).choice(SPREAD)) for sort in sorts)
    kinds, counts = [*temperaments.kinds], [*temperaments.kinds.values()]
    late = tuple(random.sample(kinds, random.choice(kept_back), counts=counts))
    return Schedule(seed, number, drawn, random.random() < 0.5, eagerness, late)
