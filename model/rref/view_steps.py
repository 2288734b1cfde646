"""The steps that are taken about views: excluding, installing, settling, burying, reclaiming, joining anew (R35 to R44).

Whoever has installed a view has lost those excluded in it, and nobody else has. What follows from that on one worker:

* What comes from them is refused (`refusals.py`), and what would go to them is not sent: a `ChildAccept` to a parent of theirs
  goes nowhere (R39).
* As an owner it forgets their parked fetches, and goes on counting their forks until they are buried. A creation of theirs that
  has not arrived is an error as soon as somebody names the RRef, and the creator's fork counts (R37).
* Its records of RRefs that they own are orphans: they go with their handles, and tell nobody (R43).

No step looks at who is really dead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from farref.model.actions import Deliver, Duplicate, Exclude, Install
from farref.model.ids import WorkerId
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref import network as net
from farref.model.rref import owner as own
from farref.model.rref import user as use
from farref.model.rref.cut_steps import is_awaited
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.links import is_orphan
from farref.model.rref.rules import RRefRules
from farref.model.rref.views import is_excluded, is_late, is_member, shuns
from farref.model.rref.world import Bounds, World

TO_OWNER = (msg.ForkRequest, msg.UserDelete, msg.CreateFailed)


def view_step(world: World, action: act.OnView, bounds: Bounds, rules: RRefRules) -> World | None:
    """Take a step about views."""
    match action:
        case Exclude(worker):
            return exclude(world, worker, bounds)
        case Install(worker):
            return install(world, worker, bounds, rules)
        case act.Settle(worker, view):
            return settle(world, worker, view, bounds, rules)
        case act.Bury(view):
            return bury(world, view, bounds, rules)
        case act.Reclaim(worker):
            return reclaim(world, worker, bounds, rules)
        case act.Join(worker):
            return join(world, worker, bounds)
        case _:
            assert_never(action)


# -- the authority -----------------------------------------------------------------------------------------------------


def exclude(world: World, worker: WorkerId, bounds: Bounds) -> World | None:
    """Issue the next view, in which one more worker is excluded, for ever (R35)."""
    views = world.views
    if views.issued == bounds.exclusions or not is_member(world, worker):
        return None
    view = views.issued + 1
    return world._replace(views=views._replace(issued=view, excluded=views.excluded.put(worker, view)))


def bury(world: World, view: int, bounds: Bounds, rules: RRefRules) -> World | None:
    """Bury a view that every worker has settled that is not excluded in it (R40)."""
    if not world.views.buried < view <= world.views.issued:
        return None
    present = [worker for worker in bounds.worker_ids if not is_late(world, worker)]
    if rules.waits_until_settled and not _have_settled(world, present, view, rules):
        return None
    return world._replace(views=world.views._replace(buried=view))


def _have_settled(world: World, present: list[WorkerId], view: int, rules: RRefRules) -> bool:
    """Say whether all members of a view have settled it; without a rule, whether one has, or all who are left."""
    if not rules.everybody_settles:
        return any(_has_settled(world, one, view) for one in present if not is_excluded(world, one, view))
    left = view if rules.same_view else world.views.issued
    return all(is_excluded(world, one, left) or _has_settled(world, one, view) for one in present)


def _has_settled(world: World, worker: WorkerId, view: int) -> bool:
    return world.views.settled[worker] >= view


def join(world: World, worker: WorkerId, bounds: Bounds) -> World | None:
    """Let a new incarnation join in the newest view, in place of somebody excluded. It has settled that view (R39, R44)."""
    views = world.views
    joined = sum(not is_late(world, one) for one in bounds.latecomers)
    if not is_late(world, worker) or joined == views.issued:
        return None
    newest = {name: getattr(views, name).put(worker, views.issued) for name in ("installed", "settled")}
    told = views.told.put(worker, views.buried)
    return world._replace(views=views._replace(late=views.late.remove(worker), told=told, **newest))


# -- every worker ------------------------------------------------------------------------------------------------------


def install(world: World, worker: WorkerId, bounds: Bounds, rules: RRefRules) -> World | None:
    """Install the next view, in one step (R37). Whoever is excluded in it does not."""
    view = world.views.installed[worker] + 1
    if view > world.views.issued or is_late(world, worker) or is_excluded(world, worker, view):
        return None
    views = world.views._replace(installed=world.views.installed.put(worker, view))
    world = world._replace(views=views)
    for fork in map(ForkId, range(bounds.forks_total)):
        world = _without_the_excluded(world, worker, fork, bounds, rules)
    for rref in _owned(worker, bounds):
        world = without_its_creation(world, rref, bounds, rules)
    return world


def settle(world: World, worker: WorkerId, view: int, bounds: Bounds, rules: RRefRules) -> World | None:
    """Settle a view: nothing is left here that those excluded in it have shared and no owner counts yet (R39)."""
    views = world.views
    if is_late(world, worker) or not views.settled[worker] < view <= views.installed[worker]:
        return None
    heirs = rules.settles_what_came_from_the_excluded and any(_heirs(world, worker, view, bounds))
    return None if heirs else world._replace(views=views._replace(settled=views.settled.put(worker, view)))


def _heirs(world: World, worker: WorkerId, view: int, bounds: Bounds) -> Iterator[bool]:
    for fork in map(ForkId, range(bounds.forks_total)):
        data = world.lineage[fork]
        if data.holder == worker and data.parent is not None and world.users[fork].phase is use.User.PENDING:
            minter = world.lineage[data.parent].holder
            is_heir = minter is not None and is_excluded(world, minter, view)
            yield is_heir and not is_excluded(world, bounds.owner(bounds.rref_of(fork)), view)


def reclaim(world: World, worker: WorkerId, bounds: Bounds, rules: RRefRules) -> World | None:
    """Learn that a view is buried, and let go of what was kept for those excluded in it (R41, R42)."""
    view = world.views.buried
    if world.views.told[worker] == view or is_late(world, worker) or is_excluded(world, worker, view):
        return None
    world = world._replace(views=world.views._replace(told=world.views.told.put(worker, view)))
    for fork in map(ForkId, range(bounds.forks_total)):
        holder, rref = world.lineage[fork].holder, bounds.rref_of(fork)
        if holder is not None and is_excluded(world, holder, view):
            if bounds.owner(rref) == worker:
                owner, _ = own.on_user_delete(world.owners[rref], fork, rules)
                world = world._replace(owners=world.owners.put(rref, owner))
            world = _without_child(world, worker, fork, bounds, rules)
    return world


# -- what follows from it ----------------------------------------------------------------------------------------------


def followed(world: World, action: act.Action, bounds: Bounds, rules: RRefRules) -> World:
    """Let take effect what an ordinary step leads to where somebody is excluded."""
    if not bounds.exclusions:
        return world
    match action:
        case Deliver(message) | Duplicate(message):
            match message:
                case msg.ForkRequest() | msg.FetchCall() | msg.Call() | msg.Return():
                    return without_its_creation(world, bounds.rref_of(message.fork), bounds, rules)
                case msg.Ack() | msg.RemoteFailed():
                    return cut_off(world, message.fork, bounds)
                case _:
                    return world
        case act.LetGo(fork) | act.EndCall(fork):
            return cut_off(world, fork, bounds)
        case _:
            return world


def without_its_creation(world: World, rref: RRefId, bounds: Bounds, rules: RRefRules) -> World:
    """Keep an error in place of what somebody excluded was to create, once it is named, and count its creator (R37)."""
    owner, fork = world.owners[rref], bounds.creator_fork(rref)
    if not is_awaited(owner) or not rules.fails_creation_of_the_excluded:
        return world
    creator = world.lineage[fork].holder
    if creator is None or not shuns(world, bounds.owner(rref), creator):
        return world
    failed, sends = own.on_create_failed(owner, rref, fork)
    return world._replace(owners=world.owners.put(rref, failed), network=net.send(world.network, sends))


def cut_off(world: World, fork: ForkId, bounds: Bounds) -> World:
    """Send nothing about a fork to those whom its holder has excluded; without its owner it goes with its handle (R37, R43)."""
    data, rref = world.lineage[fork], bounds.rref_of(fork)
    if is_orphan(world, fork, bounds):
        world = world._replace(users=world.users.put(fork, use.orphaned(world.users[fork])))
        for kind in TO_OWNER:
            world = _silenced(world, kind(rref, fork))
    sharer = None if data.parent is None else world.lineage[data.parent].holder
    is_lost = data.holder is not None and sharer is not None and shuns(world, data.holder, sharer)
    return _silenced(world, msg.ChildAccept(rref, fork)) if is_lost else world


def _silenced(world: World, message: msg.Control) -> World:
    if not net.is_unanswered(world.network, message):
        return world
    return world._replace(network=net.settle(net.take(world.network, message), message))


def _without_the_excluded(world: World, worker: WorkerId, fork: ForkId, bounds: Bounds, rules: RRefRules) -> World:
    """Let one worker forget what it can no longer have of a fork, or send about it."""
    holder, rref = world.lineage[fork].holder, bounds.rref_of(fork)
    if holder is None:
        return world
    if holder == worker:
        return cut_off(world, fork, bounds)
    if not shuns(world, worker, holder):
        return world
    if bounds.owner(rref) == worker:
        world = world._replace(owners=world.owners.put(rref, own.forget_fetch(world.owners[rref], fork)))
    return world if rules.children_wait_too else _without_child(world, worker, fork, bounds, rules)


def _without_child(world: World, worker: WorkerId, child: ForkId, bounds: Bounds, rules: RRefRules) -> World:
    """Let a worker forget a child, if it has the parent (R42)."""
    parent, rref = world.lineage[child].parent, bounds.rref_of(child)
    if parent is None or world.lineage[parent].holder != worker or child not in world.users[parent].children:
        return world
    user, sends = use.on_child_accept(world.users[parent], rref, parent, child, rules)
    return world._replace(users=world.users.put(parent, user), network=net.send(world.network, sends))


def _owned(worker: WorkerId, bounds: Bounds) -> Iterator[RRefId]:
    return (rref for rref in map(RRefId, range(bounds.rrefs)) if bounds.owner(rref) == worker)
