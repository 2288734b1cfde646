"""What must be able to happen, so that a green run is not an empty one.

Each of these is reached in at least one configuration of the standard portfolio: every message is sent, every way to create
and to share an RRef completes, and every awkward order of events that a clause was written for really occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from farref.model.checker.interface import Property
from farref.model.rref.addressing import holder, sharer
from farref.model.rref.ids import ForkId
from farref.model.rref.links import is_apart, is_orphan
from farref.model.rref.messages import (
    CONTROL,
    USER_CALLS,
    Ack,
    Call,
    CallFailed,
    Control,
    RemoteCall,
    Return,
    UserCall,
    UserDelete,
)
from farref.model.rref.network import is_flying, is_unanswered, is_under_way, was_processed
from farref.model.rref.owner import Entry
from farref.model.rref.user import Fetch, Handle, User
from farref.model.rref.views import shuns
from farref.model.rref.world import Bounds, World
from farref.properties.build import sending, situations
from farref.properties.rref.families import per_fork
from farref.properties.rref.members.sometimes import OF_MEMBERS, ForkPredicate

# -- sharing -----------------------------------------------------------------------------------------------------------


def owner_shares_with_user(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A user has received its fork from the owner."""
    rref = bounds.rref_of(fork)
    carried = world.lineage[fork].parent is None and world.owners[rref].phase is Entry.READY
    return carried and world.users[fork].phase is User.CONFIRMED and fork != bounds.creator_fork(rref)


def user_shares_with_user(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A user has received its fork from another worker's user, and its parent may let go."""
    parent = world.lineage[fork].parent
    if parent is None or world.users[fork].phase is not User.CONFIRMED:
        return False
    return world.lineage[parent].holder != world.lineage[fork].holder and fork not in world.users[parent].children


def user_shares_with_owner(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """The owner has received its RRef from a user that still lives, and the user knows."""
    rref = bounds.rref_of(fork)
    parent = world.lineage[fork].parent
    if parent is None or world.lineage[fork].holder != bounds.owner(rref) or not world.owners[rref].held:
        return False
    return world.users[parent].phase is User.CONFIRMED and fork not in world.users[parent].children


def owner_shares_with_itself(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """The owner has received its RRef from itself."""
    rref = bounds.rref_of(fork)
    data = world.lineage[fork]
    arrived = not is_flying(world.network, Call(rref, fork)) and not is_flying(world.network, Return(rref, fork))
    return data.parent is None and data.holder == bounds.owner(rref) and world.owners[rref].held and arrived


def result_is_used_before_it_is_confirmed(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """An RRef received in a result is shared on before the owner counts it."""
    user = world.users[fork]
    inherited = world.lineage[fork].parent is not None
    return inherited and user.phase is User.PENDING and user.handle is Handle.HELD and not user.children.is_empty()


def three_generations_live_at_once(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A fork, its parent and its grandparent live at once, each on another worker than the one it came from."""
    parent = world.lineage[fork].parent
    grandparent = None if parent is None else world.lineage[parent].parent
    if parent is None or grandparent is None:
        return False
    line = (grandparent, parent, fork)
    moved = all(world.lineage[one].holder != world.lineage[other].holder for one, other in pairwise(line))
    return moved and all(world.users[one].phase is not User.ABSENT for one in line)


# -- awkward orders ----------------------------------------------------------------------------------------------------


def fork_is_deleted_before_its_parent_is_counted(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A child has come and gone while the RemoteCall of its parent is still on its way."""
    rref = bounds.rref_of(fork)
    parent = world.lineage[fork].parent
    if parent is None or not was_processed(world.network, UserDelete(rref, fork)):
        return False
    return is_flying(world.network, RemoteCall(rref, parent))


def early_use_waits(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """Code on the owner waits for the value of an RRef whose creation has not arrived."""
    rref = bounds.rref_of(fork)
    return (
        fork == bounds.creator_fork(rref) and world.owners[rref].phase is Entry.EXPECTED and world.owners[rref].waiting
    )


def fetch_arrives_before_creation(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A fetch is parked for an RRef whose creation has not arrived."""
    rref = bounds.rref_of(fork)
    return fork in world.owners[rref].fetches and is_flying(world.network, RemoteCall(rref, bounds.creator_fork(rref)))


def abandoned_fetch_keeps_its_user(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A user that nobody holds any more waits for the answer to a fetch nobody waits for any more."""
    user = world.users[fork]
    return user.phase is User.CONFIRMED and user.handle is Handle.NONE and user.fetch is Fetch.ABANDONED


def timed_out_creator_lets_go_while_pending(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A creator timed out and let go, and the protocol still waits for the owner's answer."""
    rref = bounds.rref_of(fork)
    spent = world.budgets.timeouts < bounds.timeouts and fork == bounds.creator_fork(rref)
    return spent and world.users[fork].phase is User.PENDING and world.users[fork].handle is Handle.NONE


def delete_is_delivered_twice(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A UserDelete that took effect is still in flight, so it will arrive once more."""
    rref = bounds.rref_of(fork)
    delete = UserDelete(rref, fork)
    return was_processed(world.network, delete) and is_flying(world.network, delete)


def answer_is_lost(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A control message took effect, its Ack is lost, and the sender still waits."""
    rref = bounds.rref_of(fork)
    delete = UserDelete(rref, fork)
    waits = is_unanswered(world.network, delete) and was_processed(world.network, delete)
    return waits and not is_flying(world.network, delete) and not is_flying(world.network, Ack(delete))


def nobody_is_left(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """An RRef that was shared is gone without a trace."""
    rref = bounds.rref_of(fork)
    return world.owners[rref].phase is Entry.GONE and fork == bounds.creator_fork(rref) and world.minted[rref] > 1


def orphan_is_held(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """The application holds an RRef on a worker that cannot reach its owner."""
    return is_orphan(world, fork, bounds) and world.users[fork].handle is Handle.HELD


def share_is_refused_as_its_owner_is_lost(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A fork arrived at a worker that cannot reach its owner, and its sharer is told that nobody has it."""
    return is_orphan(world, fork, bounds) and is_under_way(world.network, CallFailed, fork)


def share_waits_on_a_broken_link(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A fork is on its way to its holder over a link that is broken."""
    is_travelling = is_under_way(world.network, Call, fork) or is_under_way(world.network, Return, fork)
    return is_travelling and is_apart(world, sharer(world, fork, bounds), holder(world, fork))


def call_waits_on_a_broken_link(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A creation is on its way to its owner over a link that is broken."""
    is_calling = is_under_way(world.network, RemoteCall, fork)
    return is_calling and is_apart(world, holder(world, fork), bounds.owner(bounds.rref_of(fork)))


def link_to_somebody_excluded_stays_broken(world: World, fork: ForkId, bounds: Bounds) -> bool:
    """A link broke, and will not be mended, as the owner has excluded the holder of a fork."""
    who = world.lineage[fork].holder
    owner = bounds.owner(bounds.rref_of(fork))
    return who is not None and is_apart(world, owner, who) and shuns(world, owner, who)


# -- the list ----------------------------------------------------------------------------------------------------------

_WHEN: dict[ForkPredicate, tuple[str, Callable[[Bounds], object]]] = {
    owner_shares_with_user: ("R14", lambda bounds: bounds.owner_shares and bounds.forks > 1),
    user_shares_with_user: ("R16", lambda bounds: bounds.workers - bounds.joins > 2 and bounds.forks > 1),
    user_shares_with_owner: ("R19", lambda bounds: bounds.forks > 1),
    owner_shares_with_itself: ("R19", lambda bounds: bounds.owner_shares and bounds.self_shares),
    result_is_used_before_it_is_confirmed: ("R16", lambda bounds: bounds.results and bounds.forks > 2),
    three_generations_live_at_once: ("R24", lambda bounds: bounds.workers - bounds.joins > 2 and bounds.forks > 2),
    fork_is_deleted_before_its_parent_is_counted: (
        "R26",
        lambda bounds: bounds.workers - bounds.joins > 2 and bounds.forks > 1,
    ),
    early_use_waits: ("R21", lambda bounds: bounds.forks > 1),
    fetch_arrives_before_creation: ("R20", lambda bounds: bounds.fetches),
    abandoned_fetch_keeps_its_user: ("R20", lambda bounds: bounds.fetches and bounds.timeouts),
    timed_out_creator_lets_go_while_pending: ("R27", lambda bounds: bounds.timeouts),
    delete_is_delivered_twice: ("R7", lambda bounds: bounds.duplicates),
    answer_is_lost: ("R6", lambda bounds: bounds.drops),
    nobody_is_left: ("R26", lambda bounds: bounds.forks > 1),
    orphan_is_held: ("R34", lambda bounds: bounds.lost_owners),
    share_is_refused_as_its_owner_is_lost: (
        "R34",
        lambda bounds: bounds.lost_owners and bounds.workers > 2 and bounds.forks > 1,
    ),
    share_waits_on_a_broken_link: ("R36", lambda bounds: bounds.cuts and bounds.forks > 1),
    call_waits_on_a_broken_link: ("R36", lambda bounds: bounds.cuts),
    link_to_somebody_excluded_stays_broken: ("R36", lambda bounds: bounds.cuts and bounds.exclusions),
    **OF_MEMBERS,
}
"""Each predicate with its clause and the bounds it can be reached in."""


def rref_witnesses(bounds: Bounds) -> tuple[Property, ...]:
    """List what must be reachable in a bounded world."""
    sent = (sending(bounds, kind, "R5" if kind in CONTROL else "R4", per_fork(_sends(kind))) for kind in _sent(bounds))
    return (*sent, *situations(bounds, _WHEN, per_fork))


def _sent(bounds: Bounds) -> list[type[UserCall | Control]]:
    """List the kinds of message that these bounds allow."""
    needs: dict[str, object] = {
        "Return": bounds.results,
        "FetchCall": bounds.fetches,
        "FetchReturn": bounds.fetches,
        "RemoteFailed": bounds.failures,
        "CallFailed": bounds.failures or (bounds.lost_owners and bounds.workers > 2 and bounds.forks > 1),
        "CreateFailed": bounds.failures,
        "ForkRequest": bounds.forks > 1,
        "ChildAccept": bounds.forks > 1,
    }
    return [kind for kind in (*USER_CALLS, *CONTROL) if needs.get(kind.__name__, True)]


def _sends(kind: type[UserCall | Control]) -> ForkPredicate:
    def sends(world: World, fork: ForkId, bounds: Bounds) -> bool:
        return is_flying(world.network, kind(bounds.rref_of(fork), fork))

    return sends
