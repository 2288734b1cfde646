"""The steps of a link: it breaks while both ends live, and is mended (R3, R36).

What is on a broken link waits, and arrives after it was mended: calls too, each once. Nothing else changes, and nobody is told.

Two rules say what a transport owes to calls; control messages are sent again until they are answered in any case. And one rule
says that a broken link is no death. Without that one it is two, each to one worker only, and nobody else is told: the rules
of deaths do not hold then, and `properties/autograd/gaps.py` has what goes wrong.
"""

from __future__ import annotations

from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd.addressing import ends
from farref.model.autograd.death_steps import mourn
from farref.model.autograd.ids import PairId
from farref.model.autograd.rules import AutogradRules
from farref.model.autograd.world import Bounds, World, graph_of, is_apart, link_of, spend
from farref.model.ids import WorkerId


def cut(world: World, one: WorkerId, other: WorkerId, bounds: Bounds, rules: AutogradRules) -> World | None:
    """Break the link between two workers that live (A29)."""
    is_gone = one in world.dead or other in world.dead or other in world.workers[one].mourned
    spent = None if is_gone or is_apart(world, one, other) or world.graph is None else spend(world, "cuts")
    if spent is None:
        return None
    if not rules.only_views_declare_dead:
        return _severed(spent, one, other, bounds, rules)
    broken = spent._replace(apart=spent.apart.add(link_of(spent, one, other)))
    for pair in bounds.pair_ids if bounds.forward else ():
        if {*graph_of(broken, bounds).ends(pair)} == {one, other}:
            broken = _cut_off(broken, pair, bounds, rules)
    return broken


def mend(world: World, one: WorkerId, other: WorkerId) -> World | None:
    """Make a link again, in a new epoch: what waited on it can arrive (R3)."""
    if not is_apart(world, one, other):
        return None
    return world._replace(apart=world.apart.remove(link_of(world, one, other)))


def _cut_off(world: World, pair: PairId, bounds: Bounds, rules: AutogradRules) -> World:
    """Lose a call that is on a link that breaks, or have one sent again that was taken. By the rules neither happens (A3)."""
    place, (source, target) = bounds.places[msg.ForwardCall(pair)], graph_of(world, bounds).ends(pair)
    is_under_way = world.network.carried[place] is not None
    if is_under_way and not rules.sends_again_after_a_break:
        return world._replace(network=net.take(world.network, place))
    if not is_under_way and not rules.takes_calls_once and pair in world.workers[target].got:
        attached = pair in world.workers[source].sends
        return world._replace(network=net.send(world.network, [(place, attached)]))
    return world


def _severed(world: World, one: WorkerId, other: WorkerId, bounds: Bounds, rules: AutogradRules) -> World:
    """Take a broken link for two deaths: what is under way on it is gone, and each end takes the other for dead."""
    network = world.network
    for message, place in bounds.places.items():
        if network.carried[place] is not None and {*ends(world, message, bounds)} == {one, other}:
            network = net.remove(network, place)
    world = mourn(world._replace(network=network), one, other, bounds, rules)
    return world if one in world.workers[other].mourned else mourn(world, other, one, bounds, rules)
