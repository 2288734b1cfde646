"""Look for a state: the shortest way from a place to where a sentence turns, breadth first, within a limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from farref.exploring.guide import Guide, Place
from farref.exploring.shape import Found, Move
from farref.model.checker.interface import Kind, Property
from farref.words import counted

STATES_MAX: Final = 200_000
SECONDS_MAX: Final = 20.0


def turning(guide: Guide, moves: tuple[Move, ...], sentence: str) -> Found:
    """Find the shortest way from the end of a walk to a state where a sentence turns: it held and does not, or the reverse."""
    wanted = next((one for one in guide.properties if one.id == sentence), None)
    places = list(guide.path(moves))
    if wanted is None or len(places) <= len(moves):
        return Found(None, "there is no such sentence, or the walk cannot be taken")
    begin = _holds(wanted, places[-1])
    return _search(guide, places[-1], lambda place: _holds(wanted, place) is not begin)


def _holds(property_: Property, place: Place) -> bool:
    quantified = any if property_.kind is Kind.SOMETIMES else all
    return quantified(case.holds(place.world) for case in property_.cases)


def _search(guide: Guide, begin: Place, is_found: Callable[[Place], bool]) -> Found:
    origins: dict[object, tuple[Place, Move] | None] = {begin.world: None}
    level, deadline = [begin], time.monotonic() + SECONDS_MAX
    while level:
        following: list[Place] = []
        for place in level:
            if len(origins) > STATES_MAX or time.monotonic() > deadline:
                return Found(None, f"not within {counted(len(origins), 'state')}: the search was cut short")
            for action, after in guide.turns(place):
                if after.world in origins:
                    continue
                origins[after.world] = (place, str(action))
                if is_found(after):
                    return Found(_way(origins, after), f"found after {counted(len(origins), 'state')}")
                following.append(after)
        level = following
    return Found(
        None, f"in none of the {counted(len(origins), 'state')} that can be reached from here under these rules"
    )


def _way(origins: dict[object, tuple[Place, Move] | None], place: Place) -> tuple[Move, ...]:
    moves: list[Move] = []
    while (origin := origins[place.world]) is not None:
        place, move = origin
        moves.append(move)
    return tuple(reversed(moves))
