"""Where every message of distributed autograd comes from and goes to (clauses A4 to A6). Nothing else says so.

Tensors go from the source of a pair to its target, gradients the other way. What is reported, asked and committed in a pass
goes between its root and a worker, and what is said about a release between the creator and a worker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never, cast

from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.world import Bounds, World, graph_of, root_of
from farref.model.ids import WorkerId


def ends(world: World, message: msg.Message, bounds: Bounds) -> tuple[WorkerId, WorkerId]:
    """Say which worker a message comes from, and which it goes to."""
    match message:
        case msg.ForwardCall(pair):
            return graph_of(world, bounds).ends(pair)
        case msg.PropagateGradients(_, pair) | msg.Mark(_, pair):
            source, target = graph_of(world, bounds).ends(pair)
            return target, source
        case (
            msg.Seek(number, worker)
            | msg.Resume(number, worker)
            | msg.Commit(number, worker)
            | msg.Abort(number, worker)
        ):
            return root_of(world, number), worker
        case msg.Committed(number, worker):
            return worker, root_of(world, number)
        case msg.Report(of):
            return ends(world, of, bounds)[1], root_of(world, of.number)
        case msg.CleanupContext(worker) | msg.Forget(worker):
            return CREATOR, worker
        case msg.Closed(worker):
            return worker, CREATOR
        case msg.Settled(pair, failed):
            source, target = graph_of(world, bounds).ends(pair)
            return source if failed else target, CREATOR
        case _:
            assert_never(message)


def receiver_of(world: World, message: msg.Message, bounds: Bounds) -> WorkerId:
    """Say which worker a message goes to."""
    return ends(world, message, bounds)[1]


def carried(world: World, message: msg.Message, bounds: Bounds) -> msg.Parcel:
    """Give a message that is under way, and what it carries."""
    return cast(msg.Parcel, (message, world.network.carried[bounds.places[message]]))


def send(world: World, parcels: Iterable[msg.Parcel], bounds: Bounds) -> World:
    """Send messages; what is sent to the dead, or to somebody taken for dead, goes nowhere."""
    living = [parcel for parcel in parcels if not bounds.mourning or _is_sent(world, parcel[0], bounds)]
    numbered = [(bounds.places[message], content) for message, content in living]
    return world._replace(network=net.send(world.network, numbered))


def _is_sent(world: World, message: msg.Message, bounds: Bounds) -> bool:
    source, target = ends(world, message, bounds)
    return target not in world.dead and target not in world.workers[source].mourned
