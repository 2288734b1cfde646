"""The worlds that Hypothesis draws: small ones come first, and most of the others are large enough for something awkward.

A world is given as the bounds that are not what they usually are, by name. How large the worlds of campaigns are,
`schedules.py` of each protocol says. These are like them, but each bound is drawn on its own and shrinks towards nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from hypothesis import strategies as st

from farref.model.autograd.graphs import GRAPHS
from farref.model.autograd.spelling import find_graph, spell
from farref.properties.autograd.limits import PASSES_MAX, is_begun_by_creator
from farref.properties.autograd.schedules import draw_graph
from farref.properties.protocols import PROTOCOLS

World = Mapping[str, Any]
"""Bounds by name."""

FEW: Final = st.integers(0, 2)
PERHAPS: Final = st.booleans()
NEVER: Final = st.just(False)
PASSES: Final = st.sampled_from((1, 2, 2, PASSES_MAX))
DEATHS: Final = st.sampled_from((0, 0, 0, 0, 1))


def rref_worlds(_: World) -> st.SearchStrategy[World]:
    """Worlds of references. Most that is awkward needs three workers and three or four forks."""
    return st.fixed_dictionaries(
        {
            "workers": st.sampled_from((2, 3, 3, 3, 4)),
            "rrefs": st.sampled_from((1, 1, 2)),
            "forks": st.sampled_from((1, 2, 3, 3, 4, 4, 5)),
            "drops": FEW,
            "duplicates": st.integers(0, 3),
            "timeouts": FEW,
            "fetches": FEW,
            "failures": FEW,
            "results": PERHAPS,
            "owner_shares": st.sampled_from((True, True, True, False)),
            "self_shares": st.sampled_from((True, True, False)),
            "shutdown": PERHAPS,
        }
    )


@st.composite
def programs(draw: st.DrawFn, fixed: World) -> World:
    """Programs of distributed autograd, and what may go wrong with them."""
    passes = draw(PASSES)
    graph: str = fixed.get("graph") or draw(graphs(passes))
    calls = PERHAPS if is_begun_by_creator(find_graph(graph)) else NEVER
    faults = {name: draw(FEW) for name in ("drops", "duplicates", "timeouts", "failures")}
    forward = draw(calls)
    return {
        "graph": graph,
        "passes": passes,
        **faults,
        "crashes": draw(DEATHS),
        "smart": draw(PERHAPS),
        "forward": forward,
        "detached": draw(st.integers(0, 1)) if forward else 0,
        "release": draw(calls),
    }


def graphs(passes: int) -> st.SearchStrategy[str]:
    """Graphs that have a name, the smallest first, and many that have none."""
    named = sorted(GRAPHS, key=lambda name: (len(GRAPHS[name].pairs), len(GRAPHS[name].flows), name))
    drawn = st.randoms(use_true_random=False).map(lambda random: spell(draw_graph(random, passes)))
    return st.one_of(st.sampled_from(named), drawn, drawn, drawn)


WORLDS: Final[dict[str, Callable[[World], st.SearchStrategy[World]]]] = {"rref": rref_worlds, "autograd": programs}
"""Those of each protocol; some bounds may be fixed."""


def worlds(protocol: str, fixed: World) -> st.SearchStrategy[World]:
    """Give the worlds of a protocol. Some bounds may be fixed; those that are as usual are left out."""
    usual = {one.name: one.default for one in fields(PROTOCOLS[protocol].bounds)}
    drawn = WORLDS[protocol](fixed).map(lambda world: {**world, **fixed})
    return drawn.map(lambda world: {name: value for name, value in world.items() if value != usual[name]})
