"""What no table of a worker has, and a reader of a run wants to see: who waits in vain, and which gradients have flowed."""

from __future__ import annotations

from typing import Any

from farref.exploring.shape import Edge, Row, Table
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.autograd.world import graph_of
from farref.model.ids import worker_name
from farref.model.rref.ids import RRefId
from farref.model.rref.world import Bounds, World

UNSEEN = "What its tables do not show"


def unseen(world: Any, bounds: Any) -> dict[str, Table]:
    """Say by worker what is so and stands in no table."""
    return _unseen(world, bounds) if isinstance(bounds, Bounds) else {}


def _unseen(world: World, bounds: Bounds) -> dict[str, Table]:
    found: dict[str, list[Row]] = {}
    for rref in map(RRefId, range(bounds.rrefs)):
        rows = found.setdefault(worker_name(bounds.owner(rref)), [])
        if rref in world.application.orphaned:
            rows.append(Row(f"waits x{rref}", (f"its code waits on an entry of x{rref} that was dropped",)))
        if world.owners[rref].duplicated:
            rows.append(Row(f"second x{rref}", (f"it has made a second entry of x{rref}",)))
        if world.owners[rref].registering:
            rows.append(
                Row(f"registering x{rref}", (f"it has made its entry of x{rref}, and not counted the creator yet",))
            )
    return {name: Table(UNSEEN, ("",), tuple(rows)) for name, rows in found.items() if rows}


def edges_of(world: Any, bounds: Any, observation: Any) -> tuple[Edge, ...]:
    """Say how far the gradient of each pair has come, where there is a gradient program."""
    if not isinstance(bounds, AutogradBounds) or world.graph is None:
        return ()
    graph = graph_of(world, bounds)
    under_way = " ".join(one.message for one in observation.flying if one.message.startswith("PropagateGradients"))
    views = {view.worker: view for view in observation.workers}
    edges = []
    for pair, ends in enumerate(graph.pairs):
        source, target = worker_name(ends.source), worker_name(ends.target)
        state = _flowed(pair, views.get(source), f"pair {pair})" in under_way)
        edges.append(Edge(pair, source, target, state))
    return tuple(edges)


def _flowed(pair: int, view: Any, is_under_way: bool) -> str:
    if is_under_way:
        return "under way"
    if view is not None and view.task is not None and pair in view.task.arrived:
        return "arrived"
    return "recorded" if view is not None and pair in view.sends else "not recorded"
