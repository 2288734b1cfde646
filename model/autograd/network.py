"""The network, as for RRefs: unordered, and lossy towards control messages (R3 to R7).

Messages in flight are a table by message, so any of them may arrive next. A lost message comes back when its sender sends
it again; the acknowledgement that makes it stop is the one of R6, which the RRef model covers, so here a message is sent
again only while it is lost. A copy is a message that stays in flight after it was processed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from farref.model.autograd.messages import Content
from farref.model.autograd.rules import AutogradRules
from farref.model.values import IdSet, Table, no_ids


class Network(NamedTuple):
    """What is under way, by number of message, and what both ends of a control message remember."""

    carried: Table[Content | None]  # what the message carries; None if it is not under way
    lost: IdSet  # under way, but lost, and not sent again yet
    processed: IdSet  # has taken effect; its copies do not


def quiet(messages: int) -> Network:
    """Make a network with nothing in it."""
    return Network(Table((None,) * messages), no_ids(messages), no_ids(messages))


def send(network: Network, parcels: Iterable[tuple[int, Content]]) -> Network:
    """Put messages into flight."""
    for place, content in parcels:
        network = network._replace(carried=network.carried.put(place, content))
    return network


def is_flying(network: Network, place: int) -> bool:
    """Say whether a message can arrive."""
    return network.carried[place] is not None and place not in network.lost


def take(network: Network, place: int) -> Network:
    """Take a message out of the network."""
    return network._replace(carried=network.carried.put(place, None))


def remove(network: Network, place: int) -> Network:
    """Take a message out of the network, lost or not."""
    return take(network, place)._replace(lost=network.lost.remove(place))


def process(network: Network, place: int) -> Network:
    """Remember that a message took effect."""
    return network._replace(processed=network.processed.add(place))


def is_spent(network: Network, place: int, rules: AutogradRules) -> bool:
    """Say whether a message in flight is a copy that has no effect (A3)."""
    return rules.takes_effect_once and place in network.processed


def lose(network: Network, place: int) -> Network:
    """Lose a message; its sender keeps it."""
    return network._replace(lost=network.lost.add(place))


def retry(network: Network, place: int) -> Network | None:
    """Send a lost message again (A3)."""
    return network._replace(lost=network.lost.remove(place)) if place in network.lost else None
