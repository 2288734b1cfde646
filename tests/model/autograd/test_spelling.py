"""Graphs that are spelled out: read, written, and refused where they make no sense."""

from __future__ import annotations

import pytest

from farref.model.autograd.graphs import GRAPHS, oracle
from farref.model.autograd.ids import CREATOR
from farref.model.autograd.spelling import find_graph, misspelled, spell
from farref.model.autograd.world import Bounds
from farref.properties.autograd.limits import complaint


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_with_a_name_can_be_spelled_out(name: str) -> None:
    named = GRAPHS[name]
    spelled = find_graph(spell(named))
    assert misspelled(spelled.name) is None
    assert (spelled.workers, spelled.pairs, spelled.flows) == (named.workers, named.pairs, named.flows)
    for root in named.roots:
        attached = frozenset(named.pair_ids)
        assert oracle(spelled, root, attached, 1) == oracle(named, root, attached, 1)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("AB", "spelled as pairs, a colon and flows"),
        ("AB:", "spelled as pairs"),
        ("AB : A>A", "spelled as pairs"),
        ("AZ: A>A", "spelled as pairs"),
        ("AB: A>r1", "numbered from 0"),
        (" ".join(["AB"] * 13) + ": A>A", "12 are allowed"),
        ("AB: A>A A>A", "a flow twice"),
        ("AB: s0>A", "no root"),
        ("AB: A>r0", "on different workers"),
        ("AB BA: A>r1 s0>r1", "depends on what is received later"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, wrong: str) -> None:
    told = misspelled(text)
    assert told is not None
    assert wrong in told
    assert complaint(Bounds(text)) is not None


def test_a_spelled_graph_is_a_bound() -> None:
    bounds = Bounds("AB BC: C>r1 s1>r0 s0>A", passes=2)
    assert complaint(bounds) is None
    assert len(bounds.worker_ids) == 3
    assert bounds.catalogue[0].roots == {2}
    assert oracle(bounds.catalogue[0], bounds.worker_ids[2], frozenset(bounds.pair_ids), 1) == {CREATOR: 2 * 3 * 5}
