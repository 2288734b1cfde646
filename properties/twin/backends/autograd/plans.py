"""Which programs run by themselves, what must come out of them, and a pool of real workers that runs them."""

from __future__ import annotations

import hashlib
from collections import Counter
from random import Random
from typing import Final

from farref.impl.core.ids import WorkerId
from farref.model.autograd.graphs import Entry, Graph, Leaf, Recv, Root, Send, fast_completes, oracle, reached
from farref.model.autograd.ids import PassId
from farref.model.autograd.world import Bounds, seed_of
from farref.model.ids import WorkerId as ModelWorkerId
from farref.properties.twin.backends.autograd.free import WELL, Call, Plan, PlannedPass, Seen, StormApplication
from farref.properties.twin.backends.autograd.storm import StormCore
from farref.properties.twin.backends.autograd.tensors import LEAF, Terms
from farref.properties.twin.backends.pool import Pool, Prepare, WorkerCrashed
from farref.properties.twin.schedule import Schedule
from farref.properties.twin.tally import Done
from farref.properties.twin.twin import Disagreement

POOL_SIZE: Final = 4
HASTE_S: Final = 0.002
AMPLE_S: Final = 60.0


class Storm:
    """Real workers in bad weather, which run one program after the other."""

    name = "storm"
    protocol = "autograd"
    cannot: frozenset[str] = frozenset({"died"})
    terms = ("by itself, against the model's oracle", "calls and passes", "every gradient and outcome")

    def __init__(self, prepare: Prepare | None = None) -> None:
        self.prepare = prepare
        self.pool: Pool[StormApplication] | None = None

    def take(self, schedule: Schedule) -> Done:
        """Run the program of a schedule to its end, and compare what came of it."""
        plan = draw_plan(schedule)
        done = Done(schedule, steps=len(plan.calls) + len(plan.passes))
        done.digest = hashlib.sha256(repr((schedule, plan)).encode()).digest()
        try:
            complaints = self._run(plan, schedule, done.faults)
        except WorkerCrashed as crash:
            complaints = [str(crash)]
            self.close()
        if complaints:
            done.disagreement = Disagreement(schedule.bounds, self.name, (), tuple(complaints))
        return done

    def _run(self, plan: Plan, schedule: Schedule, faults: Counter[str]) -> list[str]:
        pool, bounds = self._pool(plan.workers), schedule.bounds
        workers = [WorkerId(rank) for rank in range(plan.workers)]
        for worker in workers:
            seed = f"{schedule.seed}/{schedule.number}"
            pool.ask(worker, StormApplication.begin, seed, bounds.drops > 0, bounds.duplicates > 0)
        seen, _ = pool.ask(WorkerId(0), StormApplication.run, plan)
        complaints = judge(bounds.catalogue[0], plan, seen)
        for worker in workers:
            (left, weather), _ = pool.ask(worker, StormApplication.end)
            faults.update(weather)
            complaints += [f"worker {worker}: {left}"] if left is not None else []
        faults["timed_out"] += sum(one.ended == "PassTimeout" for one in seen)
        faults["failed"] += sum(call.raises for call in plan.calls) + sum(one.ended == "RuleRaised" for one in seen)
        return complaints

    def _pool(self, workers: int) -> Pool[StormApplication]:
        if self.pool is not None and self.pool.size < workers:
            self.close()
        if self.pool is None:
            self.pool = Pool(max(POOL_SIZE, workers), self.prepare, StormApplication, StormCore)
        return self.pool

    def close(self) -> None:
        """Let the processes end."""
        if self.pool is not None:
            self.pool.close()
            self.pool = None


def draw_plan(schedule: Schedule) -> Plan:
    """Draw how the program of a schedule is run: calls of which some raise, and passes of which some fail."""
    bounds, random = schedule.bounds, schedule.random()
    [graph] = bounds.catalogue
    used = {flow.exit.pair for flow in graph.flows if isinstance(flow.exit, Recv)}
    calls = tuple(
        Call(ends.source, ends.target, _terms(graph, Send(pair)), _is_odd(random, bounds.failures and pair not in used))
        for pair, ends in zip(graph.pair_ids, graph.pairs, strict=True)
    )
    passes = tuple(_draw_pass(random, graph, number, bounds) for number in bounds.pass_ids)
    return Plan(graph.workers, calls, passes)


def _is_odd(random: Random, possible: object) -> bool:
    return random.random() < 0.3 and bool(possible)


def _draw_pass(random: Random, graph: Graph, number: PassId, bounds: Bounds) -> PlannedPass:
    root = random.choice(sorted(graph.roots))
    raising = random.choice(graph.pair_ids) if _is_odd(random, graph.pairs and bounds.failures) else None
    timeout = HASTE_S if _is_odd(random, bounds.timeouts) else AMPLE_S
    return PlannedPass(root, _terms(graph, Root(root)), seed_of(number), bounds.smart, raising, timeout)


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
