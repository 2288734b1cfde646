"""What a predicate about distributed autograd can speak of: a worker, a pass, or a pair of a send and its recv."""

from __future__ import annotations

from collections.abc import Callable

from farref.model.autograd.ids import PairId, PassId
from farref.model.autograd.world import Bounds, World
from farref.model.ids import WorkerId, worker_name
from farref.properties.build import Family, family


def per_worker(predicate: Callable[[World, WorkerId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each worker."""
    return family(predicate, lambda bounds: [(f"worker {worker_name(worker)}", worker) for worker in bounds.worker_ids])


def per_pass(predicate: Callable[[World, PassId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each pass."""
    return family(predicate, lambda bounds: [(f"pass {number}", number) for number in bounds.pass_ids])


def per_pair(predicate: Callable[[World, PairId, Bounds], bool]) -> Family[Bounds]:
    """Apply a predicate to each pair."""
    return family(predicate, lambda bounds: [(f"pair {pair}", pair) for pair in bounds.pair_ids])
