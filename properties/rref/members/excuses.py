"""Of whom nothing is promised where workers are excluded (R46): the buried, and whatever belonged to an owner that is excluded.

Whoever is excluded and not yet buried is promised as much as everybody else, but is no longer heard by all. An excuse says of
which forks or RRefs a property does not speak. In a world where nobody can be excluded there is none.
"""

from __future__ import annotations

from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.views import is_buried, is_excluded, shuns
from farref.model.rref.world import Bounds, World


def owner_is_lost(world: World, rref: RRefId, bounds: Bounds) -> bool:
    """Say whether the owner of an RRef is excluded in some view: its values are lost (R43)."""
    return len(world.views.excluded) > 0 and is_excluded(world, bounds.owner(rref), world.views.issued)


def value_is_lost(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether the owner of a fork's RRef is excluded in some view."""
    return owner_is_lost(world, bounds.rref_of(fork), bounds)


def holder_is_buried(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether the holder of a fork is buried."""
    del bounds
    holder = world.lineage[fork].holder if len(world.views.excluded) > 0 else None
    return holder is not None and is_buried(world, holder)


def is_out(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether nothing is promised about a fork: its holder is buried, or its owner is lost."""
    return value_is_lost(world, fork, bounds) or holder_is_buried(world, fork, bounds)


def is_shut(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether the owner takes nothing from the holder of a fork any more, or nothing is promised about it."""
    holder = world.lineage[fork].holder if len(world.views.excluded) > 0 else None
    if holder is None:
        return False
    return is_out(world, fork, bounds) or shuns(world, bounds.owner(bounds.rref_of(fork)), holder)


def is_cut_off_from_its_parent(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether the holder of a fork takes nothing from the one who made it any more, or nothing is promised about it."""
    data = world.lineage[fork]
    if data.parent is None or data.holder is None or not len(world.views.excluded):
        return False
    minter = world.lineage[data.parent].holder
    return is_out(world, fork, bounds) or (minter is not None and shuns(world, data.holder, minter))
