"""What follows where a broken link is taken for two deaths, each to one worker only (R34).

That is so without `only_views_declare_dead` (`link_steps.py`). Each end takes the other for dead, for ever: what is
under way between them is gone, what they send each other later goes nowhere, and nobody else is told. So:

* A user whose owner is lost to it is an *orphan*. Its fetch and its parked call end with an error, every use is refused, and it
  goes with its handle. It tells nobody: neither the owner, whom it cannot reach, nor the parent that it has the fork from.
* An owner forgets the fetches of a lost user, and goes on counting its forks. A creation that can no longer arrive is an error.
* A parent goes on waiting for a lost child.
* A share that arrives from somebody else, of an RRef whose owner is lost, is refused, and its sharer is told so (R28).

That is what R34 asks for, and not enough where nobody has died: `properties/rref/gaps.py` has what is then left for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from farref.model.ids import WorkerId
from farref.model.rref import messages as msg
from farref.model.rref import network as net
from farref.model.rref import owner as own
from farref.model.rref import user as use
from farref.model.rref.addressing import ends
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.links import is_orphan, mourns
from farref.model.rref.rules import RRefRules
from farref.model.rref.world import Bounds, World


def take_for_dead(world: World, one: WorkerId, other: WorkerId) -> World:
    """Let each end of a broken link take the other for dead; `settled` does the rest."""
    mourned = world.mourned.put(one, world.mourned[one].add(other))
    return world._replace(mourned=mourned.put(other, mourned[other].add(one)))


def settled(world: World, bounds: Bounds, rules: RRefRules) -> World:
    """Let everything take effect that follows from links that are broken, whenever it comes up."""
    if not bounds.cuts or rules.only_views_declare_dead or world.budgets.cuts == bounds.cuts:
        return world
    for fork in map(ForkId, range(bounds.forks_total)):
        if is_orphan(world, fork, bounds):
            world = world._replace(users=world.users.put(fork, use.orphaned(world.users[fork])))
    for rref in map(RRefId, range(bounds.rrefs)):
        owner, sends = _without_the_lost(world, rref, bounds, rules)
        world = world._replace(owners=world.owners.put(rref, owner), network=net.send(world.network, sends))
    return world._replace(network=_silenced(world, bounds))


def refuse(world: World, carrier: msg.Call | msg.Return) -> World:
    """Refuse a share of an RRef whose owner is lost, and tell the one who shared it (R28, R34)."""
    views = world.views
    if len(views.refused) > 0:
        views = views._replace(refused=views.refused.add(carrier.fork))
    network = net.send(world.network, (msg.CallFailed(carrier.rref, carrier.fork),))
    return world._replace(network=network, views=views)


def _without_the_lost(world: World, rref: RRefId, bounds: Bounds, rules: RRefRules) -> own.Step:
    """Forget the fetches of lost users; put an error in place of a creation that cannot arrive any more (R34)."""
    owner = world.owners[rref]
    for fork in map(ForkId, owner.fetches.members()):
        if is_orphan(world, fork, bounds):
            owner = own.forget_fetch(owner, fork)
    creator = world.lineage[bounds.creator_fork(rref)]
    is_lost = creator.parent is None and is_orphan(world, bounds.creator_fork(rref), bounds)
    return own.fail_creation(owner, rref, rules) if is_lost and is_awaited(owner) else (owner, ())


def is_awaited(owner: own.OwnerRRef) -> bool:
    """Say whether an entry is there, or was named, before its creation."""
    is_named = not (owner.forks.is_empty() and owner.fetches.is_empty())
    return owner.phase is own.Entry.EXPECTED or (owner.phase is own.Entry.ABSENT and is_named)


def _silenced(world: World, bounds: Bounds) -> net.Network:
    """Remove what is under way between workers that take each other for dead, and stop sending it again (R34)."""
    network = world.network
    for message in _under_way(network, bounds):
        source, target = ends(world, message, bounds)
        if source is not None and mourns(world, source, target):
            network = net.take(network, message)
            if isinstance(message, msg.CONTROL):
                network = net.settle(network, message)
    return network


def _under_way(network: net.Network, bounds: Bounds) -> Iterator[msg.Message]:
    for fork in map(ForkId, range(bounds.forks_total)):
        for kind in range(msg.KINDS_COUNT):
            is_unanswered = kind < len(msg.CONTROL) and fork in network.unanswered[kind]
            if is_unanswered or fork in network.flying[kind]:
                yield msg.message_of(kind, bounds.rref_of(fork), fork)
