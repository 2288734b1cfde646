"""What is refused as somebody is lost: uses that would have to reach them, and what comes from the excluded (R34, R37)."""

from __future__ import annotations

from farref.model.actions import Deliver, Duplicate, Retry
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref import network as net
from farref.model.rref.addressing import ends, holder
from farref.model.rref.links import has_lost, is_orphan
from farref.model.rref.rules import RRefRules
from farref.model.rref.views import forget_refusal, is_a_refusal, is_late, shuns
from farref.model.rref.world import Bounds, World


def is_refused(world: World, action: act.Action, bounds: Bounds) -> bool:
    """Say whether the application is refused, as it would have to reach somebody who is lost, or not there yet (R34, R37)."""
    if not (bounds.cuts or bounds.exclusions):
        return False
    match action:
        case act.CreateRemote(rref, worker):
            return is_late(world, worker) or has_lost(world, worker, bounds.owner(rref))
        case act.OwnerShare(rref, target):
            return is_late(world, target) or has_lost(world, bounds.owner(rref), target)
        case act.UserShare(fork, target):
            holder = world.lineage[fork].holder
            is_lost = holder is not None and has_lost(world, holder, target)
            return is_lost or is_late(world, target) or is_orphan(world, fork, bounds)
        case act.FetchValue(fork) | act.TimeOutCreation(fork):
            return is_orphan(world, fork, bounds)
        case _:
            return False


def is_unheard(world: World, action: act.Action, bounds: Bounds, rules: RRefRules) -> bool:
    """Say whether a message arrives at a worker that takes nothing from its sender any more (R37).

    Sending it again is of no use then, nor to somebody from whom no answer would be taken.
    """
    if not bounds.exclusions or not rules.refuses_the_excluded:
        return False
    match action:
        case Deliver(message) | Duplicate(message):
            return net.is_flying(world.network, message) and is_from_the_excluded(world, message, bounds)
        case Retry(message):
            is_waited_for = net.is_unanswered(world.network, message)
            answer = msg.Ack(message)
            return is_waited_for and any(is_from_the_excluded(world, one, bounds) for one in (message, answer))
        case _:
            return False


def is_from_the_excluded(world: World, message: msg.Message, bounds: Bounds) -> bool:
    """Say whether the worker that a message goes to has excluded the one it comes from; a refusal comes from its holder."""
    source, target = ends(world, message, bounds)
    if source is None and is_a_refusal(world, message):
        source = holder(world, message.fork)
    return source is not None and shuns(world, target, source)


def unheard(world: World, action: act.Action) -> World | None:
    """Let a message arrive, and nothing come of it (R38). A copy of it, or one more attempt, would change nothing."""
    if not isinstance(action, Deliver):
        return None
    world = world._replace(network=net.take(world.network, action.message))
    return forget_refusal(world, action.message)
