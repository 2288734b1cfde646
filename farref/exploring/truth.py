"""What no table of a worker has, and a reader of a run wants to see: who waits in vain, and which gradients have flowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from farref.exploring.shape import Edge, Leaf, Row, Table
from farref.model.autograd.world import Bounds as AutogradBounds
from farref.model.autograd.world import graph_of
from farref.model.ids import WorkerId, worker_name
from farref.model.rref.ids import RRefId
from farref.model.rref.views import is_late
from farref.model.rref.world import Bounds, World

UNSEEN: Final = "What its tables do not show"


def unseen(world: Any, bounds: Any) -> dict[str, tuple[Table, ...]]:
    """Say by worker what is so and stands in no table that an implementation shows."""
    if not isinstance(bounds, Bounds):
        return {}
    names = {worker: worker_name(worker) for worker in bounds.worker_ids}
    found = {name: (*_entries(world, bounds, worker), *_members(world, worker)) for worker, name in names.items()}
    return {name: tables for name, tables in found.items() if tables}


def left(world: Any, bounds: Any) -> tuple[Table, ...]:
    """Say what may still go wrong, or be asked for, in a world where anything may; and which view is the newest."""
    budgets = [
        Row(name, (name, str(left_))) for name, left_ in world.budgets._asdict().items() if getattr(bounds, name, 0)
    ]
    tables = [Table("What may still happen, so many times", ("", ""), tuple(budgets))] if budgets else []
    if isinstance(bounds, Bounds) and bounds.exclusions:
        views = (Row("issued", ("newest", str(world.views.issued))), Row("buried", ("buried", str(world.views.buried))))
        tables.append(Table("Views", ("", ""), views))
    return tuple(tables)


def _entries(world: World, bounds: Bounds, worker: WorkerId) -> Iterator[Table]:
    rows: list[Row] = []
    for rref in map(RRefId, range(bounds.rrefs)):
        if bounds.owner(rref) != worker:
            continue
        if rref in world.application.orphaned:
            rows.append(Row(f"waits x{rref}", (f"its code waits on an entry of x{rref} that was dropped",)))
        if world.owners[rref].duplicated:
            rows.append(Row(f"second x{rref}", (f"it has made a second entry of x{rref}",)))
        if world.owners[rref].registering:
            rows.append(
                Row(f"registers x{rref}", (f"it has made its entry of x{rref}, and not counted the creator yet",))
            )
    if rows:
        yield Table(UNSEEN, ("",), tuple(rows))


def _members(world: World, worker: WorkerId) -> Iterator[Table]:
    """Say whom a worker takes for dead, and how far it is with the views."""
    said: dict[str, str] = {}
    for text, links in (("link is broken to", world.apart), ("takes for dead", world.mourned)):
        said[text] = ", ".join(worker_name(WorkerId(one)) for one in links[worker].members()) if links else ""
    if world.views.excluded:
        views = world.views
        numbers = {
            "excluded in view": views.excluded[worker], "has installed view": views.installed[worker],
            "has settled view": views.settled[worker], "knows buried view": views.told[worker],
        }  # fmt: skip
        said |= {name: str(number) for name, number in numbers.items() if number}
        said |= {"joined": "not yet"} if is_late(world, worker) else {}
    rows = tuple(Row(name, (name, text)) for name, text in said.items() if text)
    if rows:
        yield Table("Members", ("", ""), rows)


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


def leaves_of(bounds: Any, observation: Any) -> tuple[Leaf, ...]:
    """Say what each worker's parameter has been given: what a pass keeps aside, and what can be seen."""
    if not isinstance(bounds, AutogradBounds):
        return ()
    staged = {view.worker: None if view.task is None else view.task.staged for view in observation.workers}
    return tuple(
        Leaf(view.worker, _number(staged[view.worker]), _number(view.gradient))
        for view in observation.workers
        if staged[view.worker] is not None or view.gradient is not None
    )


def _number(value: int | None) -> str:
    return "" if value is None else str(value)


def _flowed(pair: int, view: Any, is_under_way: bool) -> str:
    if is_under_way:
        return "under way"
    if view is not None and view.task is not None and pair in view.task.arrived:
        return "arrived"
    return "recorded" if view is not None and pair in view.sends else "not recorded"
