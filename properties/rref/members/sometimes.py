"""What must be able to happen where workers are excluded: what each of the clauses R37 to R44 was written for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from farref.model.rref.ids import ForkId
from farref.model.rref.messages import Call, ChildAccept, FetchCall, ForkRequest, RemoteCall, Return, UserDelete
from farref.model.rref.network import is_flying, is_under_way
from farref.model.rref.owner import Entry
from farref.model.rref.refusals import is_from_the_excluded
from farref.model.rref.user import User
from farref.model.rref.views import is_excluded
from farref.model.rref.world import Bounds, World
from farref.properties.rref.members.excuses import holder_is_buried, is_cut_off_from_its_parent, is_out, is_shut

ForkPredicate = Callable[[World, ForkId, Bounds], bool]


def zombie_is_refused(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """An excluded worker goes on, and what it has sent will be refused."""
    kinds = (RemoteCall, Call, Return, FetchCall, ForkRequest, ChildAccept, UserDelete)
    messages = (kind(bounds.rref_of(fork), fork) for kind in kinds)
    return any(is_flying(world.network, one) and is_from_the_excluded(world, one, bounds) for one in messages)


def heir_is_counted_before_its_parent_is_buried(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """The owner counts a fork that somebody excluded has shared, and what that worker held is still kept."""
    parent, counted = world.lineage[fork].parent, world.owners[bounds.rref_of(fork)].forks
    if parent is None or world.users[fork].phase is not User.PENDING or not {fork, parent} <= {*counted.members()}:
        return False
    return is_cut_off_from_its_parent(world, fork, bounds) and not is_out(world, parent, bounds)


def entry_is_kept_for_an_excluded_creator(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A creation will not arrive any more; there is an error in its place, and its creator counts."""
    owner = world.owners[bounds.rref_of(fork)]
    is_kept = owner.phase is Entry.READY and fork in owner.forks and is_under_way(world.network, RemoteCall, fork)
    return is_kept and is_shut(world, fork, bounds)


def references_of_the_buried_are_reclaimed(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """An entry is gone, and a worker that was excluded and does not know it still has its fork."""
    is_gone = world.owners[bounds.rref_of(fork)].phase is Entry.GONE
    return is_gone and world.users[fork].phase is not User.ABSENT and holder_is_buried(world, fork, bounds)


def parent_forgets_a_child_of_the_buried(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A parent lives and no longer lists a child that was never counted, as the child's holder is buried."""
    parent, rref = world.lineage[fork].parent, bounds.rref_of(fork)
    if parent is None or not holder_is_buried(world, fork, bounds):
        return False
    is_pending = world.users[fork].phase is User.PENDING and fork not in world.owners[rref].forks
    return is_pending and world.users[parent].phase is not User.ABSENT and fork not in world.users[parent].children


def worker_comes_back(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A new incarnation has joined, and holds a fork that the owner counts."""
    return world.lineage[fork].holder in bounds.latecomers and world.users[fork].phase is User.CONFIRMED


def owner_is_excluded_and_goes_on(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """An excluded owner still has its entry, and counts a fork."""
    rref = bounds.rref_of(fork)
    is_counted = world.owners[rref].phase is Entry.READY and fork in world.owners[rref].forks
    return is_counted and is_excluded(world, bounds.owner(rref), world.views.issued)


OF_MEMBERS: Final[dict[ForkPredicate, tuple[str, Callable[[Bounds], object]]]] = {
    zombie_is_refused: ("R37", lambda bounds: bounds.exclusions),
    heir_is_counted_before_its_parent_is_buried: (
        "R39",
        lambda bounds: bounds.exclusions and bounds.workers - bounds.joins > 2 and bounds.forks > 1,
    ),
    entry_is_kept_for_an_excluded_creator: (
        "R37",
        lambda bounds: bounds.exclusions and (bounds.workers - bounds.joins > 2 or bounds.fetches) and bounds.forks > 1,
    ),
    references_of_the_buried_are_reclaimed: ("R41", lambda bounds: bounds.exclusions),
    parent_forgets_a_child_of_the_buried: (
        "R42",
        lambda bounds: bounds.exclusions and bounds.workers - bounds.joins > 2 and bounds.forks > 1,
    ),
    worker_comes_back: ("R44", lambda bounds: bounds.joins and bounds.exclusions and bounds.forks > 1),
    owner_is_excluded_and_goes_on: ("R43", lambda bounds: bounds.exclusions and bounds.lost_owners),
}
"""Each predicate with its clause and the bounds it can be reached in."""
