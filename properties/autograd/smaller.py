"""The same run in smaller programs: without a call, or without a dependency, one at a time; only such as can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from farref.model.autograd import actions as act
from farref.model.autograd.graphs import Graph
from farref.model.autograd.spelling import find_graph, misspelled, spell
from farref.model.autograd.world import EVERY, Bounds
from farref.properties.autograd.limits import is_begun_by_creator
from farref.properties.twin.rebuilt import rebuilt

SmallerRun = tuple[Bounds, tuple[act.Action, ...]]


def smaller(bounds: Bounds, actions: tuple[act.Action, ...]) -> Iterator[SmallerRun]:
    """Give the steps of a run that are still possible in each program that lacks something."""
    if bounds.graph == EVERY:
        return
    [graph] = bounds.catalogue
    for pair in reversed(graph.pair_ids):
        pairs, flows = graph.pairs[:pair] + graph.pairs[pair + 1 :], tuple(_without_pair(graph.flows, pair))
        yield from _run(bounds, replace(graph, pairs=pairs, flows=flows), tuple(_without_pair(actions, pair)))
    for flow in graph.flows:
        flows = tuple(one for one in graph.flows if one != flow)
        yield from _run(bounds, replace(graph, flows=flows), actions)


def _run(bounds: Bounds, graph: Graph, actions: tuple[Any, ...]) -> Iterator[SmallerRun]:
    travels = bounds.forward or bounds.release  # then a context is only where a call brought it
    spelled = spell(graph)
    if misspelled(spelled) is None and (not travels or is_begun_by_creator(find_graph(spelled))):
        yield replace(bounds, graph=spelled), actions


class _GoneError(Exception):
    """Something is about a pair that is gone."""


def _without_pair(things: Iterable[Any], gone: int) -> Iterator[Any]:
    """Give actions, or flows, with the numbers that pairs have after one is gone; those that are about that one go too."""

    def moved(name: str, value: Any) -> Any:
        if name != "pair":
            return value
        if value == gone:
            raise _GoneError
        return value - (value > gone)

    for thing in things:
        with suppress(_GoneError):
            yield rebuilt(thing, moved)
