"""The part of a graph that goes into a file: the states around a run, the nearest first, until there are enough.

A step off the run is as far as a rule that is switched on it. What remains of the run is taken along after a switch: the page
shows at once what the same steps lead to under other rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from farref.exploring.guide import Guide, Place
from farref.exploring.shape import Move, Node, NodeId

NODES_MAX: Final = 700
NOWHERE: Final = "elsewhere"
"""The name of every node that is not in the part."""


def part_around(guide: Guide, moves: Sequence[Move], nodes_max: int = NODES_MAX) -> dict[NodeId, Node]:
    """Give the nodes around a run. Where a node leads to one that is not there, the page says so."""
    found: dict[NodeId, Node] = {}
    for place in _nearest(guide, moves):
        if len(found) >= nodes_max:
            break
        if place.id not in found:
            found[place.id] = guide.node(place)
    return _numbered(found)


def _numbered(found: dict[NodeId, Node]) -> dict[NodeId, Node]:
    """Give the nodes short names, in the order in which they were found; what leads to another one leads nowhere."""
    names = {old: str(number) for number, old in enumerate(found)}
    return {
        names[old]: msgspec.structs.replace(
            node,
            id=names[old],
            turns=tuple(msgspec.structs.replace(turn, to=names.get(turn.to, NOWHERE)) for turn in node.turns),
            switches={rule: names.get(to, NOWHERE) for rule, to in node.switches.items()},
        )
        for old, node in found.items()
    }


def _nearest(guide: Guide, moves: Sequence[Move]) -> Iterator[Place]:
    """List places by their distance from a run; some come up more than once."""
    run = list(guide.path(moves))
    yield from run
    for number, place in enumerate(run):
        for rule in guide.about.rules:
            yield from _rest(guide, guide.switched(place, rule), moves[number:])
    level, known = run, {place.id for place in run}
    while level:
        following = []
        for place in level:
            for _, after in guide.turns(place):
                if after.id not in known:
                    known.add(after.id)
                    following.append(after)
                    yield after
        level = following


def _rest(guide: Guide, place: Place, moves: Sequence[Move]) -> Iterator[Place]:
    """Take what can be taken of the rest of a run."""
    yield place
    for move in moves:
        after = guide.follow(place, move)
        if after is None:
            return
        place = after
        yield place
