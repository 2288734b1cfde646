"""Which links are broken. Only a world in which links may break keeps a note of them (`Bounds.cuts`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farref.model.ids import WorkerId
    from farref.model.rref.world import World


def is_apart(world: World, one: WorkerId, other: WorkerId) -> bool:
    """Say whether the link between two workers is broken."""
    return len(world.apart) > 0 and other in world.apart[one]


def is_cut_off(world: World, worker: WorkerId) -> bool:
    """Say whether a worker takes somebody for dead."""
    return len(world.apart) > 0 and not world.apart[worker].is_empty()
