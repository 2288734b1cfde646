"""What the steps share: putting records back, addressing messages and sending them."""

from __future__ import annotations

from collections.abc import Iterable

from farref.model.autograd import messages as msg
from farref.model.autograd import network as net
from farref.model.autograd.graphs import Pair
from farref.model.autograd.ids import CREATOR, PassId
from farref.model.autograd.root import Pass
from farref.model.autograd.worker import Parcel, Worker
from farref.model.autograd.world import Bounds, World, graph_of
from farref.model.ids import WorkerId


def put_worker(world: World, who: WorkerId, worker: Worker) -> World:
    """Put a worker's record back."""
    return world._replace(workers=world.workers.put(who, worker))


def pass_of(world: World, number: PassId) -> Pass:
    """Find a pass."""
    return world.passes[number - 1]


def put_pass(world: World, number: PassId, record: Pass) -> World:
    """Put the root's record of a pass back."""
    return world._replace(passes=world.passes.put(number - 1, record))


def ends(world: World, message: msg.Message, bounds: Bounds) -> tuple[WorkerId, WorkerId]:
    """Say where a message comes from and goes to (A4 to A6)."""
    match message:
        case msg.Report(of):
            return ends(world, of, bounds)[1], _root(world, of.number)
        case msg.Committed(number, worker):
            return worker, _root(world, number)
        case msg.Seek(number, worker) | msg.Resume(number, worker) | msg.Commit(number, worker):
            return _root(world, number), worker
        case msg.Abort(number, worker):
            return _root(world, number), worker
        case msg.CleanupContext(worker) | msg.Forget(worker):
            return CREATOR, worker
        case msg.Closed(worker):
            return worker, CREATOR
        case _:
            return _ends_of_pair(graph_of(world, bounds).pairs[message.pair], message)


def _ends_of_pair(pair: Pair, message: msg.Message) -> tuple[WorkerId, WorkerId]:
    match message:
        case msg.ForwardCall():
            return pair.source, pair.target
        case msg.Settled(_, failed):
            return pair.source if failed else pair.target, CREATOR
        case _:
            return pair.target, pair.source


def _root(world: World, number: PassId) -> WorkerId:
    root = pass_of(world, number).root
    assert root is not None, "a pass that has messages has a root"
    return root


def send(world: World, parcels: Iterable[Parcel], bounds: Bounds) -> World:
    """Send messages; what is sent to the dead goes nowhere."""
    living = [parcel for parcel in parcels if not bounds.crashes or ends(world, parcel[0], bounds)[1] not in world.dead]
    numbered = [(bounds.places[message], content) for message, content in living]
    return world._replace(network=net.send(world.network, numbered))


def spend(world: World, budget: str) -> World | None:
    """Use up some of what may go wrong; None if nothing of it is left."""
    left = getattr(world.budgets, budget)
    return world._replace(budgets=world.budgets._replace(**{budget: left - 1})) if left else None
