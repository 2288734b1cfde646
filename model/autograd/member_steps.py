"""The steps that are taken about views: excluding, installing, and learning that one is excluded (A29, R35 to R38).

A view is a number. View 1 excludes one worker, view 2 that worker and a second one, and so on. "Declared dead to w" means:
excluded in the view that w has installed. So installing a view is what `death_steps.py` does about a death, and no step looks
at who is really dead.

An excluded worker is in no other state than any other. It goes on taking steps: it calls, begins passes and answers those who
do not know yet. Whoever has installed the view refuses it. At some time it learns that it is excluded, and falls silent; a
worker that never learns it is a schedule too, up to there.

Contexts and passes leave nothing behind that has to be settled or buried, so here that much of views is enough.
"""

from __future__ import annotations

from typing import assert_never

from farref.model.actions import Exclude, Install
from farref.model.autograd import actions as act
from farref.model.autograd import network as net
from farref.model.autograd import root as rt
from farref.model.autograd.addressing import ends
from farref.model.autograd.death_steps import fallen_silent, mourn
from farref.model.autograd.pass_steps import at_own_passes
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, is_excluded
from farref.model.ids import WorkerId


def member_step(world: World, action: act.Membership, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Take a step about views."""
    if world.graph is None or action.worker in world.dead:
        return None
    match action:
        case Exclude(worker):
            return exclude(world, worker, bounds)
        case Install(worker):
            return install(world, worker, bounds, rules)
        case act.Fence(worker):
            return fence(world, worker, bounds, rules)
        case _:
            assert_never(action)


def exclude(world: World, worker: WorkerId, bounds: Bounds) -> World | None:
    """Issue the next view, in which one more worker is excluded, for ever (R35)."""
    view = max(world.excluded) + 1
    if view > bounds.exclusions or is_excluded(world, worker):
        return None
    return world._replace(excluded=world.excluded.put(worker, view))


def install(world: World, worker: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Install the next view, in one step: whoever it excludes is dead to this worker (A21, R37)."""
    lost = _next_lost(world, worker)
    if lost is None or 0 < world.excluded[worker] < world.excluded[lost]:
        return None  # whoever is excluded hears of no later view
    network = world.network
    for message, place in bounds.places.items():
        if place in network.lost and ends(world, message, bounds) == (worker, lost):
            network = net.remove(network, place)  # control messages to somebody excluded are not sent again
    return mourn(world._replace(network=network), worker, lost, bounds, rules)


def _next_lost(world: World, worker: WorkerId) -> WorkerId | None:
    """Name whom the next view excludes that a worker has not installed; None if there is none, or it is this worker."""
    mourned = world.workers[worker].mourned
    views = [(view, WorkerId(one)) for one, view in enumerate(world.excluded) if view and one not in mourned]
    lost = min(views)[1] if views else None
    return None if lost == worker else lost


def fence(world: World, worker: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Let an excluded worker learn that it is excluded: its passes are over, and it says nothing more (R38)."""
    if not is_excluded(world, worker):
        return None
    world = at_own_passes(world, worker, rt.on_excluded, bounds, rules)
    return fallen_silent(world, worker, bounds, rules)
