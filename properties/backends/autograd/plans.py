"""Which programs run by themselves, what must come out of them, and a pool of real workers that runs them."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from farref.impl.ids import WorkerId
from farref.model.autograd.graphs import Entry, Graph, Leaf, Recv, Root, Send, fast_completes, oracle, reached
from farref.model.autograd.ids import PassId
from farref.model.autograd.world import seed_of
from farref.model.ids import WorkerId as ModelWorkerId
from farref.properties.autograd.draw import PASSES_MAX, draw_graph
from farref.properties.backends.autograd.free import WELL, Call, Plan, PlannedPass, Seen, StormDesk
from farref.properties.backends.autograd.notebook import LEAF, Terms
from farref.properties.backends.autograd.storm import StormCore
from farref.properties.backends.pool import Pool, Prepare

POOL_SIZE: Final = 4
HASTE_S: Final = 0.002
AMPLE_S: Final = 60.0


class Storm:
    """Real workers in bad weather, which run one program after the other."""

    def __init__(self, prepare: Prepare | None = None) -> None:
        self.pool = Pool(POOL_SIZE, prepare, StormDesk, StormCore)
        self.faults: Counter[str] = Counter()

    def run(self, seed: int, number: int) -> list[str]:
        """Run a program to its end; say what is wrong with what came of it."""
        graph, plan = draw_plan(Random(f"{seed}/{number}"))
        workers = [WorkerId(rank) for rank in range(POOL_SIZE)]
        for worker in workers:
            self.pool.ask(worker, StormDesk.begin, f"{seed}/{number}")
        seen, _ = self.pool.ask(WorkerId(0), StormDesk.run, plan)
        complaints = judge(graph, plan, seen)
        for worker in workers:
            (left, faults), _ = self.pool.ask(worker, StormDesk.end)
            self.faults += Counter(faults)
            complaints += [f"worker {worker}: {left}"] if left is not None else []
        self.faults["timed_out"] += sum(one.ended == "PassTimeout" for one in seen)
        self.faults["failed"] += sum(one.ended == "RuleRaised" for one in seen)
        return complaints

    def close(self) -> None:
        """Let the processes end."""
        self.pool.close()


def draw_plan(random: Random) -> tuple[Graph, Plan]:
    """Draw a program: calls of which some raise, and passes of which some fail."""
    graph = draw_graph(random, PASSES_MAX, workers=random.randint(2, POOL_SIZE))
    used = {flow.exit.pair for flow in graph.flows if isinstance(flow.exit, Recv)}
    calls = tuple(
        Call(ends.source, ends.target, _terms(graph, Send(pair)), pair not in used and random.random() < 0.5)
        for pair, ends in zip(graph.pair_ids, graph.pairs, strict=True)
    )
    passes = tuple(_draw_pass(random, graph, PassId(number)) for number in range(1, random.randint(1, PASSES_MAX) + 1))
    return graph, Plan(POOL_SIZE, calls, passes)


def _draw_pass(random: Random, graph: Graph, number: PassId) -> PlannedPass:
    root = random.choice(sorted(graph.roots))
    raising = random.choice(graph.pair_ids) if graph.pairs and random.random() < 0.2 else None
    timeout = HASTE_S if random.random() < 0.2 else AMPLE_S
    return PlannedPass(root, _terms(graph, Root(root)), seed_of(number), random.random() < 0.6, raising, timeout)


def _terms(graph: Graph, entry: Entry) -> Terms:
    flows = (flow for flow in graph.flows if flow.entry == entry)
    return tuple((LEAF if isinstance(flow.exit, Leaf) else flow.exit.pair, flow.weight) for flow in flows)


def judge(graph: Graph, plan: Plan, seen: list[Seen]) -> list[str]:
    """Compare what an application saw with what the graph alone says it must see."""
    complaints, expected = list[str](), dict[int, int]()
    for number, (planned, one) in enumerate(zip(plan.passes, seen, strict=True), start=1):
        allowed = endings(graph, planned)
        if one.ended not in allowed:
            complaints.append(f"pass {number} ended with {one.ended}; allowed is {', '.join(sorted(allowed))}")
        if one.ended == WELL:
            attached = frozenset(graph.pair_ids)
            for worker, value in oracle(graph, ModelWorkerId(planned.root), attached, planned.seed).items():
                expected[worker] = expected.get(worker, 0) + value
        wanted = tuple(expected.get(worker) for worker in range(plan.workers))
        if one.gradients != wanted:
            complaints.append(f"after pass {number} the gradients are {one.gradients}, and must be {wanted}")
    return complaints


def endings(graph: Graph, planned: PlannedPass) -> set[str]:
    """Say how a pass may end: it is in nobody's hand whether a timeout, or which of two faults, comes first."""
    root, every = ModelWorkerId(planned.root), frozenset(graph.pair_ids)
    allowed = {"PassTimeout"} if planned.timeout == HASTE_S else set()
    raises = planned.raising is not None and planned.raising in reached(graph, root, every)
    completes = planned.smart or fast_completes(graph, root, every, every)
    allowed |= {"RuleRaised"} if raises else set()
    allowed |= set() if completes else {"UnreachedSends"}
    return allowed | ({WELL} if completes and not raises else set())
