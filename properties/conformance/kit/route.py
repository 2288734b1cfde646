"""Random steps of a check, as data: what failed can then be taken again with fewer of them.

Steps are left out as long as the check still fails. First all steps about some names are left out, as most names have nothing
to do with the trouble; then single steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeVar

SHRINK_SECONDS: Final = 45.0
"""How long it may take to make a run shorter. A value that is left over shows only after some seconds, each time."""


class Move(NamedTuple):
    """A step that is taken at random."""

    verb: str
    worker: str
    name: str
    to: str
    """Who is to own it, or is given it."""


Route: TypeAlias = tuple[Move, ...]


class Taken(Protocol):
    """What became of a route."""

    @property
    def route(self) -> Route | None:
        """The route, if it was one."""


Outcome = TypeVar("Outcome", bound=Taken)
Pieces: TypeAlias = list[set[int]]
"""The places of steps that are left out together."""


def shortened_route(found: Outcome, again: Callable[[Route], Outcome | None], seconds_max: float) -> Outcome:
    """Leave out of a route that failed whatever can be spared. `again` takes one, and gives what came of it if it fails too."""
    end = time.monotonic() + seconds_max
    for cut in (_by_name, _single):
        found = _without_what_can_be_spared(found, again, cut, end)
    return found


def _without_what_can_be_spared(
    found: Outcome, again: Callable[[Route], Outcome | None], cut: Callable[[Route], Pieces], end: float
) -> Outcome:
    size = max(1, len(cut(found.route or ())) // 2)
    while size:
        begin = 0
        while begin < len(pieces := cut(route := found.route or ())) and time.monotonic() < end:
            spared = set[int]().union(*pieces[begin : begin + size])
            shorter = again(tuple(move for place, move in enumerate(route) if place not in spared))
            found = shorter or found
            begin += 0 if shorter else size
        size //= 2
    return found


def _by_name(route: Route) -> Pieces:
    names = dict.fromkeys(move.name for move in route)
    return [{place for place, move in enumerate(route) if move.name == name} for name in names]


def _single(route: Route) -> Pieces:
    return [{place} for place in range(len(route))]
