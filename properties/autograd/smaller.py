"""The same run in smaller programs: without a call, or without a dependency, one at a time; only such as can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from farref.model.autograd import actions as act
from farref.model.autograd.graphs import Flow, Graph
from farref.model.autograd.spelling import find_graph, misspelled, spell
from farref.model.autograd.world import EVERY, Bounds
from farref.properties.autograd.schedules import is_begun_by_creator

Run = tuple[Bounds, tuple[act.Action, ...]]


def smaller(bounds: Bounds, actions: tuple[act.Action, ...]) -> Iterator[Run]:
    """Give the steps of a run that are still possible in each program that lacks something."""
    if bounds.graph == EVERY:
        return
    [graph] = bounds.catalogue
    for pair in reversed(graph.pair_ids):
        moved = (_moved(action, pair) for action in actions)
        rest = tuple(action for action in moved if action is not None)
        yield from _run(bounds, _without_pair(graph, pair), rest)
    for flow in graph.flows:
        flows = tuple(one for one in graph.flows if one != flow)
        yield from _run(bounds, replace(graph, flows=flows), actions)


def _run(bounds: Bounds, graph: Graph, actions: tuple[Any, ...]) -> Iterator[Run]:
    travels = bounds.forward or bounds.release  # then a context is only where a call brought it
    spelled = spell(graph)
    if misspelled(spelled) is None and (not travels or is_begun_by_creator(find_graph(spelled))):
        yield replace(bounds, graph=spelled), actions


def _without_pair(graph: Graph, pair: int) -> Graph:
    pairs = graph.pairs[:pair] + graph.pairs[pair + 1 :]
    ends = [(_moved(flow.entry, pair), _moved(flow.exit, pair), flow.weight) for flow in graph.flows]
    flows = tuple(
        Flow(entry, exit_, weight) for entry, exit_, weight in ends if entry is not None and exit_ is not None
    )
    return replace(graph, pairs=pairs, flows=flows)


def _moved(thing: Any, gone: int) -> Any:
    """Give an action, a message or an end with the numbers of pairs after one that is gone; None if it is about that one."""
    changed: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.name == "pair" and value == gone:
            return None
        if field.name == "pair" and value > gone:
            changed["pair"] = value - 1
        elif is_dataclass(value):
            changed[field.name] = _moved(value, gone)
            if changed[field.name] is None:
                return None
    return replace(thing, **changed)
