"""What must hold of the workers themselves where somebody is excluded (R46)."""

from __future__ import annotations

from farref.model.ids import WorkerId
from farref.model.rref.views import is_buried, is_excluded, is_late, shuns
from farref.model.rref.world import Bounds, World


def the_buried_are_heard_by_nobody(world: World, buried: WorkerId, bounds: Bounds) -> bool:
    """Whoever is buried is heard by nobody who is not."""
    if not is_buried(world, buried):
        return True
    others = (one for one in bounds.worker_ids if not is_late(world, one) and not is_buried(world, one))
    return all(shuns(world, one, buried) for one in others)


def everybody_excluded_is_buried(world: World, worker: WorkerId, bounds: Bounds) -> bool:
    """Once exclusions end, everybody excluded is buried."""
    del bounds
    return not is_excluded(world, worker, world.views.issued) or is_buried(world, worker)
