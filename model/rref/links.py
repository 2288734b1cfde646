"""Which links are broken (only a world in which they may break keeps a note of it, `Bounds.cuts`), and who is lost to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farref.model.rref.views import shuns

if TYPE_CHECKING:
    from farref.model.ids import WorkerId
    from farref.model.rref.ids import ForkId
    from farref.model.rref.world import Bounds, World


def is_apart(world: World, one: WorkerId, other: WorkerId) -> bool:
    """Say whether the link between two workers is broken, and not mended yet."""
    return len(world.apart) > 0 and other in world.apart[one]


def mourns(world: World, who: WorkerId, whom: WorkerId) -> bool:
    """Say whether a worker takes another one for dead, as the link broke."""
    return len(world.mourned) > 0 and whom in world.mourned[who]


def is_cut_off(world: World, worker: WorkerId) -> bool:
    """Say whether a worker takes somebody for dead, as the link broke."""
    return len(world.mourned) > 0 and not world.mourned[worker].is_empty()


def has_lost(world: World, who: WorkerId, whom: WorkerId) -> bool:
    """Say whether a worker is lost to another one, which takes it for dead or has excluded it."""
    return mourns(world, who, whom) or shuns(world, who, whom)


def is_orphan(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Say whether the owner is lost to the holder of a fork (R34, R43)."""
    if not (bounds.cuts or bounds.exclusions):
        return False
    holder = world.lineage[fork].holder
    return holder is not None and has_lost(world, holder, bounds.owner(bounds.rref_of(fork)))
