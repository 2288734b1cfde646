"""What the steps share: putting records back and sending messages."""

from __future__ import annotations

from collections.abc import Iterable

from farref.model.autograd import network as net
from farref.model.autograd.ids import PassId
from farref.model.autograd.root import Pass
from farref.model.autograd.worker import Parcel, Worker
from farref.model.autograd.world import Bounds, World
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


def send(world: World, parcels: Iterable[Parcel], bounds: Bounds) -> World:
    """Send messages."""
    numbered = [(bounds.places[message], content) for message, content in parcels]
    return world._replace(network=net.send(world.network, numbered))


def spend(world: World, budget: str) -> World | None:
    """Use up some of what may go wrong; None if nothing of it is left."""
    left = getattr(world.budgets, budget)
    return world._replace(budgets=world.budgets._replace(**{budget: left - 1})) if left else None
