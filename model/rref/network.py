"""The network: unordered, lossy towards control messages, and what both ends do about it (clauses R3 to R7).

Messages in flight are a set, so any of them may arrive next: that is reordering and delay. Within a budget the network also
drops control messages and delivers copies of them. Against that, the sender of a control message keeps it as *unanswered*
and sends it again until its Ack arrives, and the receiver remembers what it has *processed*, answers a copy and does nothing
else (R6, R7). An implementation does the same with sequence numbers and a window; what it must forget in order to stay
small is exactly what no copy of can arrive any more, so forgetting it is invisible here.

A second copy of a message that is still in flight adds nothing in an unordered network, hence a set and not a bag. The
copy that matters is one that arrives after the original: `Duplicate` delivers a message and leaves it in flight.
"""

from __future__ import annotations

from typing import NamedTuple

from farref.model.rref.ids import ForkId
from farref.model.rref.messages import (
    CONTROL,
    KINDS_COUNT,
    NUMBERS,
    Ack,
    Control,
    Message,
    UserCall,
    control_number,
    kind_number,
)
from farref.model.values import IdSet, Table, no_ids


class Network(NamedTuple):
    """What is in flight, and what the two ends of each control message remember."""

    flying: Table[IdSet]  # by kind of message: the forks such a message is under way about
    unanswered: Table[IdSet]  # by kind of control message: the sender still waits for the Ack
    processed: Table[IdSet]  # by kind of control message: the receiver has let it take effect
    repeated: bool = False  # history: a copy changed something (P6)


def quiet(forks: int) -> Network:
    """Make a network with nothing in it."""
    none = no_ids(forks)
    control = Table((none,) * len(CONTROL))
    return Network(Table((none,) * KINDS_COUNT), control, control)


def is_flying(network: Network, message: Message) -> bool:
    """Say whether a message is under way."""
    return message.fork in network.flying[kind_number(message)]


def is_unanswered(network: Network, message: Control) -> bool:
    """Say whether the sender of a control message still waits for its Ack."""
    return message.fork in network.unanswered[control_number(message)]


def is_under_way(network: Network, kind: type[UserCall | Control], fork: ForkId) -> bool:
    """Say whether a message of a kind is under way about a fork."""
    return fork in network.flying[NUMBERS[kind]]


def is_waited_for(network: Network, kind: type[Control], fork: ForkId) -> bool:
    """Say whether somebody waits for the answer to a control message of a kind about a fork."""
    return fork in network.unanswered[NUMBERS[kind]]


def was_processed(network: Network, message: Control) -> bool:
    """Say whether the receiver has let a control message take effect."""
    return message.fork in network.processed[control_number(message)]


def send(network: Network, messages: tuple[Message, ...]) -> Network:
    """Put messages into flight; control messages are unanswered from now on."""
    for message in messages:
        network = network._replace(flying=_add(network.flying, kind_number(message), message))
        if isinstance(message, CONTROL):
            network = network._replace(unanswered=_add(network.unanswered, control_number(message), message))
    return network


def take(network: Network, message: Message) -> Network:
    """Take a message out of the network."""
    return network._replace(flying=_remove(network.flying, kind_number(message), message))


def process(network: Network, message: Control) -> Network:
    """Remember that a control message took effect, and answer it."""
    processed = _add(network.processed, control_number(message), message)
    return send(network._replace(processed=processed), (Ack(message),))


def settle(network: Network, message: Control) -> Network:
    """Stop waiting for the answer to a control message."""
    return network._replace(unanswered=_remove(network.unanswered, control_number(message), message))


def retry(network: Network, message: Control) -> Network | None:
    """Send a control message again. A timer does that; here it fires once neither message nor answer is under way (R6)."""
    if not is_unanswered(network, message) or is_flying(network, message) or is_flying(network, Ack(message)):
        return None
    return send(network, (message,))


def _add(table: Table[IdSet], number: int, message: Message) -> Table[IdSet]:
    return table.put(number, table[number].add(message.fork))


def _remove(table: Table[IdSet], number: int, message: Message) -> Table[IdSet]:
    return table.put(number, table[number].remove(message.fork))
