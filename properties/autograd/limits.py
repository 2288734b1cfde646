"""How large a world of distributed autograd anybody may ask for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from farref.model.autograd.graphs import GRAPHS, Graph
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.spelling import PAIRS_MAX, is_spelled, misspelled
from farref.model.autograd.world import EVERY, Bounds
from farref.properties.limits import Limits, outside

PASSES_MAX: Final = 3
LIMITS: Final[Limits] = {"workers": (2, 6), "pairs": (0, PAIRS_MAX), "passes": (1, PASSES_MAX)}
LIMITS_OF_EVERY: Final[Limits] = {**LIMITS, "workers": (2, 3), "pairs": (0, 2)}
"""The same where every graph of a size is meant: with more pairs there are too many of them."""


def wrong_graph(name: str) -> str | None:
    """Say what is wrong with a graph that was asked for; None if nothing is wrong."""
    if is_spelled(name):
        wrong = misspelled(name)
        return wrong and f"graph {name!r}: {wrong}"
    if name != EVERY and name not in GRAPHS:
        return f"no graph is called {name!r}; known are {', '.join((EVERY, *GRAPHS))}; or spell one out"
    return None


def complaint(bounds: Bounds) -> str | None:
    """Say what is wrong with some bounds, and what is allowed; None if nothing is wrong."""
    wrong = wrong_graph(bounds.graph) or outside(asdict(bounds), LIMITS_OF_EVERY)
    if wrong is not None:
        return wrong
    if bounds.graph != EVERY and (bounds.workers, bounds.pairs) != (Bounds.workers, Bounds.pairs):
        return f"graph {bounds.graph!r} has its own workers and pairs; leave out --workers and --pairs"
    if bounds.detached and not bounds.forward:
        return "detached is about calls; add --forward"
    if bounds.release and not bounds.forward and not all(map(is_begun_by_creator, bounds.catalogue)):
        return f"in graph {bounds.graph!r} somebody calls whom nobody has called; leave out --release, or add --forward"
    return None


def is_begun_by_creator(graph: Graph) -> bool:
    """Say whether every call is made by the creator or by somebody who was called before, so that a release finds all."""
    known = {CREATOR}
    for pair in graph.pairs:
        if pair.source not in known:
            return False
        known.add(pair.target)
    return graph.roots <= known
