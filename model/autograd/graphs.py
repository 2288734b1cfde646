"""What a forward pass recorded, as a graph, and the gradients it should give: computed from the graph alone, by no protocol.

Only what crosses workers matters to the protocol, so each worker's own tape is reduced to what gradients enter it by and
what they leave it by. They enter at a *root* (where `backward` is called) or at a *send* (the end of a pair that tensors
left from), and leave at a *recv* (the end of a pair where tensors arrived) or at the worker's *leaf*, a parameter. A *flow*
from entry to exit says that the exit depends on the entry, with a weight: the derivative, added up over all ways through
the tape in between.

Gradients are whole numbers, and the weights are different primes, so that a sum with one part missing or counted twice is
another number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product

from farref.model.autograd.ids import PairId
from farref.model.ids import WorkerId, worker_named


@dataclass(frozen=True, slots=True)
class Root:
    """What `backward` is called on."""

    worker: WorkerId


@dataclass(frozen=True, slots=True)
class Send:
    """The end of a pair that tensors left from: a gradient comes back to it."""

    pair: PairId


@dataclass(frozen=True, slots=True)
class Recv:
    """The end of a pair where tensors arrived: a gradient goes out from it."""

    pair: PairId


@dataclass(frozen=True, slots=True)
class Leaf:
    """A worker's parameter."""

    worker: WorkerId


Entry = Root | Send
Exit = Recv | Leaf


@dataclass(frozen=True, slots=True)
class Pair:
    """One message with tensors in it. Tensors go from source to target, gradients the other way."""

    source: WorkerId
    target: WorkerId


@dataclass(frozen=True, slots=True)
class Flow:
    """An exit depends on an entry of the same worker."""

    entry: Entry
    exit: Exit
    weight: int


@dataclass(frozen=True, eq=False)
class Graph:
    """Everything one context recorded, on all workers."""

    name: str
    workers: int
    pairs: tuple[Pair, ...]
    flows: tuple[Flow, ...]

    @cached_property
    def into(self) -> dict[Exit, tuple[Flow, ...]]:
        """The flows that lead into each exit."""
        exits = {flow.exit for flow in self.flows}
        return {exit_: tuple(flow for flow in self.flows if flow.exit == exit_) for exit_ in exits}

    @cached_property
    def exits(self) -> dict[WorkerId, tuple[Exit, ...]]:
        """The exits of each worker that something leads into, the leaf last."""
        found: dict[WorkerId, tuple[Exit, ...]] = {}
        for worker in map(WorkerId, range(self.workers)):
            recvs = [Recv(pair) for pair in self.pair_ids if self.pairs[pair].target == worker]
            found[worker] = tuple(exit_ for exit_ in (*recvs, Leaf(worker)) if exit_ in self.into)
        return found

    @property
    def pair_ids(self) -> list[PairId]:
        """The pairs, in the order they can be recorded."""
        return [PairId(pair) for pair in range(len(self.pairs))]

    def ends(self, pair: PairId) -> tuple[WorkerId, WorkerId]:
        """The workers that the tensors of a pair go from and to."""
        return self.pairs[pair].source, self.pairs[pair].target

    @cached_property
    def roots(self) -> frozenset[WorkerId]:
        """The workers on which `backward` can be called."""
        return frozenset(flow.entry.worker for flow in self.flows if isinstance(flow.entry, Root))

    @cached_property
    def inputs(self) -> dict[PairId, frozenset[PairId]]:
        """What has to be received before the tensors of a pair can be computed."""
        needs: dict[PairId, set[PairId]] = {pair: set() for pair in self.pair_ids}
        for flow in self.flows:
            if isinstance(flow.entry, Send) and isinstance(flow.exit, Recv):
                needs[flow.entry.pair].add(flow.exit.pair)
        return {pair: frozenset(needed) for pair, needed in needs.items()}


# -- what should come out ----------------------------------------------------------------------------------------------


def paths(graph: Graph, start: Entry, attached: frozenset[PairId]) -> Iterator[tuple[Leaf, int]]:
    """List every way from an entry to a leaf: the leaf, and the product of the weights on the way."""
    for flow in graph.flows:
        if flow.entry != start:
            continue
        match flow.exit:
            case Leaf() as leaf:
                yield leaf, flow.weight
            case Recv(pair) if pair in attached:
                yield from ((leaf, flow.weight * rest) for leaf, rest in paths(graph, Send(pair), attached))
            case _:
                pass


def oracle(graph: Graph, root: WorkerId, attached: frozenset[PairId], seed: int) -> dict[WorkerId, int]:
    """Give the gradient of each worker's leaf: the sum over all paths. A leaf that no path leads to is left out (A22)."""
    gradients: dict[WorkerId, int] = {}
    for leaf, weight in paths(graph, Root(root), attached):
        gradients[leaf.worker] = gradients.get(leaf.worker, 0) + seed * weight
    return gradients


def reached(graph: Graph, root: WorkerId, attached: frozenset[PairId]) -> frozenset[PairId]:
    """Give the pairs whose send gets a gradient in a pass from this root."""
    found: set[PairId] = set()
    waiting: list[Entry] = [Root(root)]
    while waiting:
        entry = waiting.pop()
        for flow in graph.flows:
            if flow.entry == entry and isinstance(flow.exit, Recv) and flow.exit.pair in attached - found:
                found.add(flow.exit.pair)
                waiting.append(Send(flow.exit.pair))
    return frozenset(found)


def fast_completes(graph: Graph, root: WorkerId, attached: frozenset[PairId], recorded: frozenset[PairId]) -> bool:
    """Say whether FAST can complete: on every worker a gradient comes to, every recorded send gets one (A15)."""
    return not unreached(graph, root, attached, recorded)


def unreached(
    graph: Graph, root: WorkerId, attached: frozenset[PairId], recorded: frozenset[PairId]
) -> frozenset[PairId]:
    """List the recorded sends that get no gradient and that a worker waits for all the same, as one came to it (A15)."""
    alive = reached(graph, root, attached)
    engaged = {root} | {graph.pairs[pair].source for pair in alive}
    return frozenset(pair for pair in recorded - alive if graph.pairs[pair].source in engaged)


# -- graphs with a name ------------------------------------------------------------------------------------------------


def read_graph(name: str, pairs: str, flows: str) -> Graph:
    """Read a graph. A pair is written AB (from A to B), a flow A>r0 (root of A to recv 0) or s0>A (send 0 to A's leaf)."""
    read = tuple(Pair(worker_named(pair[0]), worker_named(pair[1])) for pair in pairs.split())
    ends = [tuple(flow.split(">")) for flow in flows.split()]
    primes = _primes()
    made = tuple(Flow(_entry(entry), _exit(exit_), next(primes)) for entry, exit_ in ends)
    named = {letter for letter in pairs + flows if letter.isupper()}
    return Graph(name, max(worker_named(letter) for letter in named) + 1, read, made)


def _entry(text: str) -> Entry:
    return Send(PairId(int(text[1:]))) if text[0] == "s" else Root(worker_named(text))


def _exit(text: str) -> Exit:
    return Recv(PairId(int(text[1:]))) if text[0] == "r" else Leaf(worker_named(text))


def _primes() -> Iterator[int]:
    return (number for number in count(2) if all(number % factor for factor in range(2, number)))


GRAPHS = {
    graph.name: graph
    for graph in (
        read_graph("local", "", "A>A"),
        read_graph("chain", "BA", "A>r0 s0>B"),
        read_graph("there-and-back", "AB BA", "A>r1 s1>r0 s1>B s0>A"),
        read_graph("diamond", "BA BA", "A>r0 A>r1 s0>B s1>B"),
        read_graph("self", "AA AA", "A>r1 s1>r0 s0>A"),
        read_graph("relay", "AB BC CB BA", "A>r3 s3>r2 s2>r1 s1>r0 s0>A"),
        read_graph("two-branches", "BA CA", "A>r0 A>r1 s0>B s1>C"),
        read_graph("two-returns", "AB BA AC CA", "A>r1 A>r3 s1>r0 s3>r2 s0>A s2>A"),
        read_graph("two-starters", "AB BA", "A>r1 s1>r0 s1>B s0>A B>r0"),
        read_graph("unused-call", "AB", "A>A s0>A"),
        read_graph("unused-result", "BA BA", "A>r0 s0>B s1>B"),
        read_graph("unused-elsewhere", "BA CA", "A>r0 s0>B s1>C"),
        read_graph("ignored-argument", "AB BA", "A>r1 s1>B s0>A"),
        read_graph("hidden-path", "BC CA CA BA", "A>r1 A>r3 s1>r0 s2>r0 s0>B s3>B"),
        read_graph("half-used", "AB BA BA", "A>r1 A>A s1>r0 s2>r0 s0>A"),
    )
}
"""The graphs that have a name, each for something that can happen (spec/autograd.md lists them)."""


# -- every small graph -------------------------------------------------------------------------------------------------


def every_graph(workers: int, pairs: int) -> tuple[Graph, ...]:
    """List every graph with so many workers and so many pairs, with a root on A that something depends on."""
    ends = [Pair(WorkerId(one), WorkerId(other)) for one, other in product(range(workers), repeat=2)]
    found = (recorded for chosen in product(ends, repeat=pairs) for recorded in _all_flows(chosen))
    return tuple(
        Graph(f"{workers} workers, {pairs} pairs, number {number}", workers, chosen, flows)
        for number, (chosen, flows) in enumerate(found)
    )


def _all_flows(pairs: tuple[Pair, ...]) -> Iterator[tuple[tuple[Pair, ...], tuple[Flow, ...]]]:
    entries: list[tuple[Entry, list[Exit]]] = [(Root(WorkerId(0)), _exits(pairs, WorkerId(0), len(pairs)))]
    entries += [(Send(PairId(pair)), _exits(pairs, pairs[pair].source, pair)) for pair in range(len(pairs))]
    edges = [(entry, exit_) for entry, exits in entries for exit_ in exits]
    for chosen in product((False, True), repeat=len(edges)):
        primes = _primes()
        flows = tuple(Flow(*edge, next(primes)) for edge, is_there in zip(edges, chosen, strict=True) if is_there)
        if any(isinstance(flow.entry, Root) for flow in flows):
            yield pairs, flows


def _exits(pairs: Iterable[Pair], worker: WorkerId, before: int) -> list[Exit]:
    """List what a worker's tensors can depend on: what it received earlier, and its parameter."""
    received: list[Exit] = [
        Recv(PairId(pair)) for pair, ends in enumerate(pairs) if ends.target == worker and pair < before
    ]
    return [*received, Leaf(worker)]
