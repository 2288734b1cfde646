"""On every small graph: FAST ends well exactly when clause A15 says so, SMART always does, and the gradients are right.

What is expected is worked out here from the graph alone; every order of messages is searched, by the reference engine.
"""

from __future__ import annotations

from itertools import product

import pytest

from farref.model.autograd.graphs import Flow, Graph, Pair, Recv, Root, Send, every_graph, fast_completes, reached
from farref.model.autograd.ids import PairId
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.root import Phase
from farref.model.autograd.world import Bounds, World
from farref.model.checker import reference
from farref.model.checker.interface import Case, Kind, Property, Verdict
from farref.model.ids import WorkerId
from farref.properties.autograd.always import autograd_properties

A, B = WorkerId(0), WorkerId(1)
SIZES = [(2, 1), (3, 1), (2, 2), (3, 2)]
GRAPH_COUNTS = {(2, 1): 16, (3, 1): 30, (2, 2): 336, (3, 2): 1_104}


def ends(bounds: Bounds) -> tuple[Property, ...]:
    """The properties, and that in the end a pass has succeeded exactly where it can."""

    def as_expected(world: World) -> bool:
        if world.graph is None:
            return False
        graph = bounds.catalogue[world.graph]
        pairs = frozenset(graph.pair_ids)
        can = bounds.smart or fast_completes(graph, A, pairs, pairs)
        return world.passes[0].phase is (Phase.SUCCEEDED if can else Phase.FAILED)

    theorem = Property("theorem", "A15", Kind.EVENTUALLY, "It ends as it should.", (Case("all", as_expected),))
    return (*autograd_properties(bounds), theorem)


@pytest.mark.parametrize(("size", "smart"), list(product(SIZES, (False, True))))
def test_every_small_graph(size: tuple[int, int], smart: bool) -> None:
    bounds = Bounds(workers=size[0], pairs=size[1], smart=smart)
    assert len(bounds.catalogue) == GRAPH_COUNTS[size]
    result = reference.check(AutogradModel(bounds), ends(bounds))
    assert result.verdict is Verdict.HOLDS
    assert result.coverage["Choose"] == len(bounds.catalogue)


@pytest.mark.parametrize("crashes", [0, 1])
def test_what_a_worker_drops_as_it_closes_or_dies_changes_no_answer(crashes: int) -> None:
    """C engages, closes, and has no sends any more when B hears that one of them gets no gradient."""
    bounds = Bounds("AB AC CB CB: B>r2 s2>C s3>C", crashes=crashes, release=True)
    assert reference.check(AutogradModel(bounds), autograd_properties(bounds)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("workers", [2, 3])
def test_among_every_small_graph_fast_completes_on_some_only(workers: int) -> None:
    graphs = every_graph(workers, 1)
    can = [fast_completes(graph, A, frozenset(graph.pair_ids), frozenset(graph.pair_ids)) for graph in graphs]
    assert 0 < sum(can) < len(graphs)


def test_the_condition_by_hand() -> None:
    """B's second result is unused: B takes part, so it waits; if C had made it, nobody would."""
    used = (Flow(Root(A), Recv(PairId(0)), 2), Flow(Send(PairId(0)), Recv(PairId(1)), 3))
    pairs = frozenset([PairId(0), PairId(1)])
    engaged = Graph("B again", 2, (Pair(B, A), Pair(B, A)), used[:1])
    elsewhere = Graph("C", 3, (Pair(B, A), Pair(WorkerId(2), A)), used[:1])
    assert reached(engaged, A, pairs) == {0}
    assert not fast_completes(engaged, A, pairs, pairs)
    assert fast_completes(elsewhere, A, pairs, pairs)
