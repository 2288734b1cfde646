"""The standard portfolio: a few bounded worlds, small to large, that together fire every action and exercise every rule.

One world with everything in it would be too large to search, and would hide which part of it mattered. Each configuration
turns on what it is about; together every action fires, every witness of `sometimes.py` is reached, and every mutant is
caught, which the tests check.
"""

from __future__ import annotations

from typing import Final

from farref.model.rref.world import Bounds
from farref.properties.protocol import Configuration

PORTFOLIO: Final = (
    Configuration(
        "one fork",
        Bounds(2, forks=1, drops=1, duplicates=1, timeouts=2, fetches=2, failures=1, results=True, shutdown=True),
        "a creator or a single share, with every fault there is",
    ),
    Configuration(
        "two forks",
        Bounds(2, forks=2, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True),
        "every kind of sharing between two workers, with every fault there is",
    ),
    Configuration("two RRefs", Bounds(2, rrefs=2, forks=2), "each worker owns one and uses the other's"),
    Configuration(
        "three workers",
        Bounds(3, forks=2, drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True),
        "a user shares with a third worker, with every fault there is",
    ),
    Configuration("two fetches", Bounds(3, forks=2, fetches=2), "several wait for one value, and all get it"),
    Configuration(
        "more faults", Bounds(3, forks=2, drops=2, duplicates=2), "faults that meet: lost answers to late copies"
    ),
    Configuration("tree, results", Bounds(3, forks=3, results=True), "three forks, used before they are confirmed"),
    Configuration("tree, failures", Bounds(3, forks=3, failures=1), "three forks, one of them withdrawn"),
    Configuration("tree, fetches", Bounds(3, forks=3, fetches=1, timeouts=1), "three forks and an abandoned fetch"),
    Configuration(
        "tree, faults", Bounds(3, forks=3, drops=1, duplicates=1), "three forks over three workers, the largest"
    ),
)
