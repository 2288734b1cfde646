"""Several workers on the simulated network: finding messages, delivering them, looking at tables."""

from __future__ import annotations

from farref.impl.core.ids import ForkId, WorkerId
from farref.impl.core.messages import Control
from farref.impl.simulated.network import InFlight, Simulation

A, B, C = WorkerId(0), WorkerId(1), WorkerId(2)


def kind(flight: InFlight) -> type:
    """What a message is; a numbered one is what it carries."""
    return type(flight.message.body) if isinstance(flight.message, Control) else type(flight.message)


def under_way(world: Simulation, wanted: type, target: WorkerId | None = None) -> int:
    """The oldest message of a kind."""
    return next(f.id for f in world.in_flight() if kind(f) is wanted and target in (None, f.target))


def kinds(world: Simulation) -> list[type]:
    return [kind(flight) for flight in world.in_flight()]


def drain(world: Simulation) -> None:
    """Deliver everything, oldest first, until nothing is under way."""
    while world.in_flight():
        world.deliver(world.in_flight()[0].id)


def forks(world: Simulation, worker: WorkerId) -> list[ForkId]:
    return [fork for entry in world.observe()[worker].entries for fork, _ in entry.forks]


def is_empty(world: Simulation) -> bool:
    return not world.in_flight() and all(tables.is_empty() for tables in world.observe().values())
