"""The standard portfolio: a few bounded worlds, small to large, that together fire every action and exercise every rule.

One world with everything in it would be too large to search, and would hide which part of it mattered. The configurations
are chosen by these rules, which the tests check:

* One and two forks have every switch at once (faults, fetches, results, shutdown), between two workers; three workers have all
  but shutdown. There everything can meet everything.
* With three forks, every two of the seven switches are on together in some configuration. Seven lines of three are enough for
  that, each pair on one line: the Fano plane.
* Views meet every fault, a second view, the loss of an owner, a worker that comes back, a broken link, and a tree of forks.
  They stand before the large ones, so that it is soon seen which of their rules are needed.
* What the number of forks, workers or RRefs makes possible has a configuration of its own: four forks (three children of one
  parent), trees over three workers, two RRefs.
* Together every action fires, every witness of `sometimes.py` is reached, and every mutant is caught.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from farref.model.rref.world import Bounds
from farref.properties.protocol import Configuration

SWITCHES: Final = ("drops", "duplicates", "timeouts", "fetches", "failures", "results", "shutdown")
"""What a configuration can turn on, beyond its size."""

LINES: Final = (
    ("timeouts", "results", "shutdown"),
    ("timeouts", "fetches", "failures"),
    ("drops", "failures", "results"),
    ("duplicates", "failures", "shutdown"),
    ("drops", "fetches", "shutdown"),
    ("duplicates", "fetches", "results"),
    ("drops", "duplicates", "timeouts"),
)
"""Three switches each, so that every two of them are on one line, and only one. From small to large."""


def _line(switches: tuple[str, ...]) -> Configuration:
    turned_on: dict[str, Any] = {name: True if name in ("results", "shutdown") else 1 for name in switches}
    bounds = replace(Bounds(2, forks=3), **turned_on)
    return Configuration(f"three forks: {', '.join(switches)}", bounds, "three forks, and three things that may meet")


VIEWS: Final = (
    Configuration(
        "views",
        Bounds(3, forks=2, fetches=1, exclusions=1, results=True),
        "somebody is excluded, and goes on all the same",
    ),
    Configuration(
        "views, two",
        Bounds(3, forks=2, exclusions=2, self_shares=False),
        "somebody else is excluded before that is settled",
    ),
    Configuration(
        "views, faults",
        Bounds(2, forks=2, drops=1, duplicates=1, timeouts=1, failures=1, exclusions=1),
        "an exclusion, with every fault there is",
    ),
    Configuration(
        "views, owners",
        Bounds(3, forks=2, fetches=1, exclusions=1, self_shares=False, lost_owners=True),
        "the worker that has the value is excluded",
    ),
    Configuration("views, joining", Bounds(3, forks=2, exclusions=1, joins=1), "an excluded worker comes back"),
    Configuration(
        "views, links",
        Bounds(3, forks=2, fetches=1, failures=1, cuts=1, exclusions=1, owner_shares=False, self_shares=False),
        "a link breaks, and one of its ends is excluded before it is mended",
    ),
)
"""Worlds in which workers are excluded (R35 to R46), each with something else that may meet it."""

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
    *VIEWS,
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
        "views, tree",
        Bounds(3, forks=3, exclusions=1, owner_shares=False, self_shares=False),
        "what somebody excluded has shared was shared on",
    ),
    *map(_line, LINES),
    Configuration("four forks", Bounds(2, forks=4), "three children of one parent at the same time"),
    Configuration(
        "tree, faults", Bounds(3, forks=3, drops=1, duplicates=1), "three forks over three workers, the largest"
    ),
)
