"""The steps of a link: it breaks while both ends live, and is mended (R3, R36).

What is on a broken link waits, and arrives after it was mended: control messages and calls, each call once. Nothing else
changes, and nobody is told. That a call failed is definitive only in the next epoch (R3), so reports of it wait too. A link to
somebody whom one of its ends has excluded is not mended: nothing is taken over it any more (R37).

Two rules say what a transport owes to calls; control messages are sent again until they are answered in any case. And one rule
says that a broken link is no death. Without that one it is two (`cut_steps.py`).

What is not pretty: `takes_calls_once` is about every call, and without it only a call between two users comes again. There the
model sees that it was taken; one such mistake is enough to show what the rule is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from farref.model.actions import Cut, Mend, OnMessage, Retry
from farref.model.ids import WorkerId
from farref.model.rref import actions as act
from farref.model.rref import messages as msg
from farref.model.rref import network as net
from farref.model.rref.addressing import link
from farref.model.rref.cut_steps import take_for_dead
from farref.model.rref.ids import ForkId
from farref.model.rref.links import is_apart, mourns
from farref.model.rref.rules import RRefRules
from farref.model.rref.user import User
from farref.model.rref.views import is_late, shuns
from farref.model.rref.world import Bounds, World, spend


def link_step(world: World, action: Cut | Mend, bounds: Bounds, rules: RRefRules) -> World | None:
    """Take a step of a link."""
    match action:
        case Cut(one, other):
            return cut(world, one, other, bounds, rules)
        case Mend(one, other):
            return mend(world, one, other)
        case _:
            assert_never(action)


def cut(world: World, one: WorkerId, other: WorkerId, bounds: Bounds, rules: RRefRules) -> World | None:
    """Break the link between two workers that live and hear each other."""
    is_none = is_late(world, one) or is_late(world, other) or mourns(world, one, other)
    if not world.budgets.cuts or is_none or is_apart(world, one, other) or _is_refused(world, one, other):
        return None
    spent = spend(world, "cuts")
    if not rules.only_views_declare_dead:
        return take_for_dead(spent, one, other)
    apart = spent.apart.put(one, spent.apart[one].add(other))
    broken = spent._replace(apart=apart.put(other, apart[other].add(one)))
    return broken._replace(network=_cut_off(broken, {one, other}, bounds, rules))


def mend(world: World, one: WorkerId, other: WorkerId) -> World | None:
    """Make a link again, in a new epoch: what waited on it can arrive (R3). Nobody connects to somebody excluded."""
    if not is_apart(world, one, other) or _is_refused(world, one, other):
        return None
    apart = world.apart.put(one, world.apart[one].remove(other))
    return world._replace(apart=apart.put(other, apart[other].remove(one)))


def is_held_up(world: World, action: act.Action, bounds: Bounds) -> bool:
    """Say whether something would happen to a message that waits on a broken link."""
    if not bounds.cuts or world.budgets.cuts == bounds.cuts:
        return False
    if not isinstance(action, OnMessage) or isinstance(action, Retry):
        return False
    return net.is_flying(world.network, action.message) and is_apart(world, *link(world, action.message, bounds))


def _is_refused(world: World, one: WorkerId, other: WorkerId) -> bool:
    return shuns(world, one, other) or shuns(world, other, one)


def _cut_off(world: World, ends: set[WorkerId], bounds: Bounds, rules: RRefRules) -> net.Network:
    """Lose what is on a link that breaks, or have calls sent again that were taken. By the rules neither happens (R3)."""
    network = world.network
    if not rules.sends_again_after_a_break:
        for call in _under_way(world, bounds):
            network = net.take(network, call) if {*link(world, call, bounds)} == ends else network
    if not rules.takes_calls_once:
        network = net.send(
            network, tuple(call for call in _taken(world, bounds) if {*link(world, call, bounds)} == ends)
        )
    return network


def _under_way(world: World, bounds: Bounds) -> Iterator[msg.UserCall]:
    for fork in map(ForkId, range(bounds.forks_total)):
        for kind in msg.USER_CALLS:
            if net.is_under_way(world.network, kind, fork):
                yield kind(bounds.rref_of(fork), fork)


def _taken(world: World, bounds: Bounds) -> Iterator[msg.Call]:
    """List the calls of users to users that were taken."""
    for fork in map(ForkId, range(bounds.forks_total)):
        data, rref = world.lineage[fork], bounds.rref_of(fork)
        if data.parent is None or data.holder == bounds.owner(rref):
            continue
        is_here = world.users[fork].phase is not User.ABSENT
        if is_here or net.was_processed(world.network, msg.ForkRequest(rref, fork)):
            yield msg.Call(rref, fork)
