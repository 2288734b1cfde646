"""What a predicate about RRefs can speak of: an RRef, a fork, or a worker."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from farref.model.ids import WorkerId, worker_name
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds, World
from farref.properties.build import Family, family

Thing = TypeVar("Thing", RRefId, ForkId)


def per_rref(
    predicate: Callable[[World, RRefId, Bounds], bool], unless: Callable[[World, RRefId, Bounds], bool] | None = None
) -> Family[Bounds]:
    """Apply a predicate to each RRef; where somebody is excluded, to each that has no excuse."""
    spoken = _unless(predicate, unless)
    return family(spoken, lambda bounds: [(f"RRef x{rref}", RRefId(rref)) for rref in range(bounds.rrefs)])


def per_fork(
    predicate: Callable[[World, ForkId, Bounds], bool], unless: Callable[[World, ForkId, Bounds], bool] | None = None
) -> Family[Bounds]:
    """Apply a predicate to each fork of any RRef; where somebody is excluded, to each that has no excuse."""
    spoken = _unless(predicate, unless)
    return family(spoken, lambda bounds: [(f"fork f{fork}", ForkId(fork)) for fork in range(bounds.forks_total)])


def per_worker(predicate: Callable[[World, WorkerId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each worker."""
    return family(predicate, lambda bounds: [(f"worker {worker_name(one)}", one) for one in bounds.worker_ids])


def _unless(
    predicate: Callable[[World, Thing, Bounds], bool], excuse: Callable[[World, Thing, Bounds], bool] | None
) -> Callable[[World, Thing, Bounds], bool]:
    if excuse is None:
        return predicate

    @wraps(predicate)
    def holds(world: World, thing: Thing, bounds: Bounds) -> bool:
        return predicate(world, thing, bounds) or excuse(world, thing, bounds)

    return holds
