"""What a predicate about RRefs can speak of: an RRef, or a fork."""

from __future__ import annotations

from collections.abc import Callable

from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds, World
from farref.properties.build import Family, family


def per_rref(predicate: Callable[[World, RRefId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each RRef."""
    return family(predicate, lambda bounds: [(f"RRef x{rref}", RRefId(rref)) for rref in range(bounds.rrefs)])


def per_fork(predicate: Callable[[World, ForkId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each fork of any RRef."""
    return family(predicate, lambda bounds: [(f"fork f{fork}", ForkId(fork)) for fork in range(bounds.forks_total)])
