"""How the programs of schedules of distributed autograd are drawn, what may go wrong, and what such schedules are like.

A program is a graph (`model/autograd/graphs.py`): calls between workers, and what depends on what. Each call is made by the
creator or by a worker that was called before. What it brings may be used, used twice, or ignored; a result may be fetched
again; now and then a worker calls itself. Some programs are those that have a name.

Gradients are whole numbers in floating-point, so programs whose numbers outgrow them are not drawn.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from farref.model.autograd.graphs import GRAPHS, Entry, Exit, Flow, Graph, Leaf, Pair, Recv, Root, Send
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.spelling import find_graph, spell
from farref.model.autograd.world import EVERY, Bounds, seed_of
from farref.model.ids import WorkerId
from farref.properties.autograd.limits import LIMITS, PASSES_MAX, complaint, is_begun_by_creator
from farref.properties.limits import outside
from farref.properties.twin.candidates import LATE
from farref.properties.twin.schedule import Temperaments

TEMPERAMENTS: Final = Temperaments(
    eagerness={
        "choose": 9.0,
        "call": 3.0,
        "begin": 1.0,
        "deliver": 2.0,
        LATE: 0.02,
        "fail": 0.1,
        "time out": 0.05,
        "release": 0.004,
        "die": 0.01,
        "exclude": 0.05,
        "cut": 0.1,
    },
    kinds=dict.fromkeys(
        (
            *("ForwardCall", "PropagateGradients", "Mark", "Seek", "Resume", "Report"),
            *("Commit", "Committed", "Abort", "CleanupContext", "Closed", "Settled", "Forget"),
        ),
        1,
    ),
    apart=frozenset({"exclude", "follow views", "cut", "mend"}),
)

WORKERS_DRAWN: Final = (2, 2, 3, 3, 3, 4)
PAIRS_DRAWN: Final = (1, 2, 3, 3, 4, 4, 5, 6, 7)
EXACT_MAX: Final = 2**49
"""What floating-point numbers hold exactly, even if several tensors of a pair have a multiple of it."""


def draw_bounds(random: Random, fixed: dict[str, Any]) -> Bounds:
    """Draw a program and what may go wrong with it."""
    passes = fixed.get("passes", random.randint(1, PASSES_MAX))
    drawn = draw_graph(random, passes, fixed.get("workers"), fixed.get("pairs"))
    travels = fixed.get("forward") or fixed.get("release")
    named = [name for name, known in GRAPHS.items() if not travels or is_begun_by_creator(known)]
    graph = fixed.get("graph", spell(drawn) if random.random() < 0.8 or _is_sized(fixed) else random.choice(named))
    is_called = is_begun_by_creator(find_graph(graph))
    chosen: dict[str, Any] = {
        "drops": random.randint(0, 2),
        "duplicates": random.randint(0, 2),
        "timeouts": random.randint(0, 2),
        "failures": random.randint(0, 2),
        "detached": random.choice((0, 0, 1)),
        "crashes": random.choice((0, 0, 0, 0, 1)),
        "smart": random.random() < 0.6,
        "forward": random.random() < 0.6 and is_called,
        "release": random.random() < 0.8 and is_called,
    }
    chosen |= {name: value for name, value in fixed.items() if name not in ("workers", "pairs")}
    chosen |= {"graph": graph, "passes": passes}
    return Bounds(**{**chosen, "detached": chosen["detached"] if chosen["forward"] else 0})


def unfit(fixed: dict[str, Any]) -> str | None:
    """Say what is wrong with bounds that are the same in all schedules. Workers and pairs are those of the programs drawn."""
    sizes: dict[str, Any] = {name: fixed[name] for name in ("workers", "pairs") if name in fixed}
    wrong = outside(sizes, LIMITS)
    if wrong is not None:
        return wrong
    graph = fixed.get("graph")
    if graph == EVERY:
        return "a schedule has one graph; leave out --graph to have it drawn"
    if graph is not None and sizes:
        return f"graph {graph!r} has its own workers and pairs; leave out --workers and --pairs"
    rest = {name: value for name, value in fixed.items() if name not in sizes}
    return complaint(Bounds(**{"graph": "relay", "forward": True, **rest})) or (graph and _unfit_graph(fixed))


def _unfit_graph(fixed: dict[str, Any]) -> str | None:
    graph = find_graph(fixed["graph"])
    if heaviest(graph) * seed_of(PassId(fixed.get("passes", PASSES_MAX))) > EXACT_MAX:
        return f"the gradients of graph {graph.name!r} outgrow what floating-point numbers hold exactly"
    if (fixed.get("forward") or fixed.get("release")) and not is_begun_by_creator(graph):
        return f"in graph {graph.name!r} somebody calls whom nobody has called; leave out --forward and --release"
    return None


def _is_sized(fixed: dict[str, Any]) -> bool:
    return "workers" in fixed or "pairs" in fixed


# -- programs ----------------------------------------------------------------------------------------------------------


def draw_graph(random: Random, passes: int, workers: int | None = None, pairs: int | None = None) -> Graph:
    """Draw a program whose gradients are exact."""
    while True:
        size = random.choice(WORKERS_DRAWN) if workers is None else workers
        graph = _draw_graph(random, size, random.choice(PAIRS_DRAWN) if pairs is None else pairs)
        if heaviest(graph) * seed_of(PassId(passes)) <= EXACT_MAX:
            return graph


def _draw_graph(random: Random, workers: int, pairs: int) -> Graph:
    made, edges = list[Pair](), list[tuple[Entry, Exit]]()
    for number in map(PairId, range(pairs)):
        again = [edge for edge in edges if edge[0] == Send(PairId(number - 1))]
        if (
            made and made[-1].source != made[-1].target and random.random() < 0.15
        ):  # the same value is fetched once more
            made.append(made[-1])
            edges += [(Send(number), exit_) for _, exit_ in again]
            continue
        known = [CREATOR, *dict.fromkeys(pair.target for pair in made)]
        source = made[-1].target if made and random.random() < 0.5 else random.choice(known)
        target = _draw_target(random, source, workers, made)
        exits = _draw_exits(random, source, made)
        made.append(Pair(source, target))
        edges += [(Send(number), exit_) for exit_ in exits]
    targets = [pair.target for pair in made] or [CREATOR]
    for root in sorted({targets[-1], *random.choices(targets, k=random.choice((0, 0, 1, 2)))}):
        edges += [(Root(root), exit_) for exit_ in _draw_exits(random, root, made) or [Leaf(root)]]
    spelled = Graph("", workers, tuple(made), tuple(Flow(*edge, 1) for edge in edges))
    return find_graph(spell(spelled))


def _draw_target(random: Random, source: WorkerId, workers: int, made: list[Pair]) -> WorkerId:
    """Draw whom a worker calls: rarely itself, and once only. Two gradients to oneself at a time may be taken in any order."""
    itself = Pair(source, source)
    others = [WorkerId(worker) for worker in range(workers) if worker != source]
    return source if itself not in made and random.random() < 0.15 else random.choice(others)


def _draw_exits(random: Random, worker: WorkerId, made: list[Pair]) -> list[Exit]:
    """Draw what depends on what has come to a worker so far, and on its parameter."""
    eager = random.choice((0.4, 0.8, 0.8))
    received: list[Exit] = [Recv(PairId(pair)) for pair, ends in enumerate(made) if ends.target == worker]
    return [exit_ for exit_ in (*received, Leaf(worker)) if random.random() < eager]


def heaviest(graph: Graph) -> int:
    """Give the largest number that a pass sums up anywhere."""
    largest = 1
    for root in sorted(graph.roots):
        sums: dict[Exit, int] = {}
        entries: list[Entry] = [Root(root), *map(Send, reversed(graph.pair_ids))]
        for entry in entries:
            arrived = 1 if isinstance(entry, Root) else sums.get(Recv(entry.pair), 0)
            for flow in graph.flows:
                if flow.entry == entry:
                    sums[flow.exit] = sums.get(flow.exit, 0) + flow.weight * arrived
        largest = max(largest, *sums.values())
    return largest
