"""Views: who is excluded, and how far each worker is with each view (R35 to R44). The steps are in `view_steps.py`.

A view is a number. View 1 excludes one worker, view 2 that worker and a second one, and so on: whoever is excluded in a view is
excluded in every later one. So for each worker there are four numbers to keep, and a world has few of them. The authority is no
worker. It is told of everything at once: what it is told stays true, so telling it late would only make it wait.

An excluded worker is in no other state than any other. It has not died, and goes on taking steps: a worker that takes none is a
schedule too. Only a world in which somebody may be excluded keeps any of this (`Bounds.exclusions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from farref.model.rref import messages as msg
from farref.model.values import IdSet, Table, no_ids

if TYPE_CHECKING:
    from farref.model.ids import WorkerId
    from farref.model.rref.world import Bounds, World


class Views(NamedTuple):
    """What the authority has decided, and what each worker has done about it."""

    issued: int  # the newest view
    buried: int  # the newest view that is buried
    excluded: Table[int]  # by WorkerId: the view that excludes it, 0 for a member
    installed: Table[int]  # by WorkerId: the newest view it has installed
    settled: Table[int]  # by WorkerId: the newest view it has settled
    told: Table[int]  # by WorkerId: the newest view it knows to be buried
    late: IdSet  # those who have not joined yet
    refused: IdSet  # forks that their holder did not take, as it has lost the owner; their sharers have not heard yet


def no_views(bounds: Bounds) -> Views:
    """Make what there is before anybody is excluded."""
    nothing = Table((0,) * bounds.workers if bounds.exclusions else ())
    is_late = (worker in bounds.latecomers for worker in range(bounds.workers))
    late = IdSet(is_late) if bounds.latecomers else no_ids(0)
    can_refuse = bounds.exclusions > 0 and bounds.lost_owners
    refused = no_ids(bounds.forks_total if can_refuse else 0)
    return Views(0, 0, nothing, nothing, nothing, nothing, late, refused)


def shuns(world: World, who: WorkerId, whom: WorkerId) -> bool:
    """Say whether a worker has installed a view in which another one is excluded, and so takes nothing from it (R37)."""
    return len(world.views.excluded) > 0 and is_excluded(world, whom, world.views.installed[who])


def is_excluded(world: World, worker: WorkerId, view: int) -> bool:
    """Say whether a worker is excluded in a view (R35)."""
    since = world.views.excluded[worker]
    return 0 < since <= view


def is_member(world: World, worker: WorkerId) -> bool:
    """Say whether a worker has joined and is excluded in no view."""
    return not is_late(world, worker) and not world.views.excluded[worker]


def is_buried(world: World, worker: WorkerId) -> bool:
    """Say whether a worker is excluded in a view that is buried (R40)."""
    return len(world.views.excluded) > 0 and is_excluded(world, worker, world.views.buried)


def is_late(world: World, worker: WorkerId) -> bool:
    """Say whether a worker has not joined yet (R44)."""
    return len(world.views.late) > 0 and worker in world.views.late


def is_a_refusal(world: World, message: msg.Message) -> bool:
    """Say whether a message tells that its receiver did not take a fork (R28), which no network does."""
    return len(world.views.refused) > 0 and isinstance(message, msg.CallFailed) and message.fork in world.views.refused


def forget_refusal(world: World, message: msg.Message) -> World:
    """Let a refusal that has arrived be over."""
    if not is_a_refusal(world, message):
        return world
    return world._replace(views=world.views._replace(refused=world.views.refused.remove(message.fork)))
