"""Graphs that have no name, spelled out: "AB BA: A>r1 s1>r0 s1>B s0>A".

Before the colon are the pairs, each from a worker to a worker, after it the flows, as `graphs.read_graph` reads them. So any
graph can be a bound: on the command line, in a trace, or drawn at random.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from farref.model.autograd.graphs import GRAPHS, Entry, Exit, Graph, Leaf, Recv, Root, Send, read_graph
from farref.model.ids import WorkerId, worker_name

PAIRS_MAX: Final = 12
_PAIR: Final = "[A-H]{2}"
_FLOW: Final = r"(?:[A-H]|s\d\d?)>(?:[A-H]|r\d\d?)"
_SPELLED: Final = re.compile(rf"((?:{_PAIR}(?: {_PAIR})*)?): ({_FLOW}(?: {_FLOW})*)")


@lru_cache(maxsize=256)
def find_graph(name: str) -> Graph:
    """Give the graph that has a name, or that a text spells."""
    if name in GRAPHS:
        return GRAPHS[name]
    spelled = _SPELLED.fullmatch(name)
    assert spelled is not None, "what is no graph was refused before"
    return read_graph(name, *spelled.groups())


def spell(graph: Graph) -> str:
    """Write a graph as a text that spells it."""
    pairs = " ".join(worker_name(pair.source) + worker_name(pair.target) for pair in graph.pairs)
    return f"{pairs}: {' '.join(f'{_end(flow.entry)}>{_end(flow.exit)}' for flow in graph.flows)}"


def is_spelled(name: str) -> bool:
    """Say whether a text is meant to spell a graph, well or badly."""
    return ":" in name


def misspelled(text: str) -> str | None:
    """Say what is wrong with a spelled graph; None if nothing is."""
    spelled = _SPELLED.fullmatch(text)
    if spelled is None:
        return "it is spelled as pairs, a colon and flows, such as 'AB BA: A>r1 s1>r0 s0>A'"
    pairs, flows = (part.split() for part in spelled.groups())
    numbers = [int(number) for number in re.findall(r"\d+", spelled[2])]
    if len(pairs) > PAIRS_MAX or max(numbers, default=-1) >= len(pairs):
        return f"it has {len(pairs)} pairs, numbered from 0; {PAIRS_MAX} are allowed"
    if len({*flows}) != len(flows):
        return "it has a flow twice"
    graph = read_graph(text, *spelled.groups())
    if not graph.roots:
        return "it has no root, as A in A>r0 is"
    for flow, written in zip(graph.flows, flows, strict=True):
        if _worker(graph, flow.entry) != _worker(graph, flow.exit):
            return f"the two ends of {written} are on different workers"
        if isinstance(flow.entry, Send) and isinstance(flow.exit, Recv) and flow.exit.pair >= flow.entry.pair:
            return f"in {written} what is sent depends on what is received later"
    return None


def _worker(graph: Graph, end: Entry | Exit) -> WorkerId:
    match end:
        case Root(worker) | Leaf(worker):
            return worker
        case Send(pair):
            return graph.pairs[pair].source
        case _:
            return graph.pairs[end.pair].target


def _end(end: Entry | Exit) -> str:
    match end:
        case Root(worker) | Leaf(worker):
            return worker_name(worker)
        case Send(pair):
            return f"s{pair}"
        case _:
            return f"r{end.pair}"
