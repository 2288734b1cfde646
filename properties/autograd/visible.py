"""What must always hold of distributed autograd, as sentences over what any implementation shows (`observation.py`).

The same properties are stated over the model's world in `always.py`. Here they are stated once more, for what an
implementation shows and for what its application knows (`Truth`): which program it ran, what it did to it, and whom it lost.

S4 cannot be seen: a gradient that is taken twice is seen by its sum. Of S11 it is seen whether a worker is still in the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from farref.model.autograd.graphs import Graph, oracle, unreached
from farref.model.autograd.ids import CREATOR, PairId, PassId
from farref.model.autograd.world import Bounds, World, graph_of, pass_of, seed_of
from farref.model.ids import WorkerId, worker_name, worker_named
from farref.properties.autograd.observation import Observation, PassView, WorkerView
from farref.properties.autograd.observer import ENDED_WELL
from farref.properties.build import violated
from farref.properties.violation import Violation

RUNNING: Final = frozenset({"running", "marking", "resumed", "committing"})
"""The phases of a pass that has not ended."""


@dataclass
class Truth:
    """What an application knows of its program, whatever the engines say."""

    graph: Graph | None = None
    smart: bool = False
    is_recorded_at_once: bool = True  # calls are no steps: every send is recorded before the first pass
    roots: dict[int, str] = field(default_factory=dict)  # by pass: where it was begun
    detached: set[int] = field(default_factory=set)  # the pairs that were sent with recording switched off
    raised: bool = False  # a backward rule has raised, or a call failed
    timed_out: bool = False
    released: bool = False
    dead: set[str] = field(default_factory=set)
    forgot: set[str] = field(default_factory=set)  # the workers that had the context, and have it no longer

    @property
    def attached(self) -> frozenset[PairId]:
        """The pairs that were recorded, as far as the application has a say."""
        assert self.graph is not None, "whoever asks comes after the choice"
        return frozenset(pair for pair in self.graph.pair_ids if pair not in self.detached)


# -- workers -----------------------------------------------------------------------------------------------------------


def gradients_are_those_of_one_process(seen: Observation, worker: WorkerView, truth: Truth) -> bool:
    """S1: when no pass is under way, a parameter has the sum of the gradients of the passes that ended well, no more."""
    is_over = len(seen.passes) == len(truth.roots) and not any(one.phase in RUNNING for one in seen.passes)
    if worker.context != "open" or worker.worker in truth.forgot or not is_over:
        return True
    assert truth.graph is not None, "a pass has a graph"
    ended = tuple((one.number, one.root) for one in seen.passes if one.phase == ENDED_WELL)
    return worker.gradient == _gradient(truth.graph, worker.worker, ended, truth.attached)


@cache
def _gradient(graph: Graph, worker: str, ended: tuple[tuple[int, str], ...], attached: frozenset[PairId]) -> int | None:
    who = {worker_name(WorkerId(one)): WorkerId(one) for one in range(graph.workers)}
    each = [oracle(graph, who[root], attached, seed_of(PassId(number))).get(who[worker]) for number, root in ended]
    there = [gradient for gradient in each if gradient is not None]
    return sum(there) if there else None


def no_pass_survives_its_context(seen: Observation, worker: WorkerView, truth: Truth) -> bool:
    """S9: a worker that takes part in a pass has its context open."""
    del seen, truth
    return worker.task is None or worker.context == "open"


def a_forgotten_context_stays_forgotten(seen: Observation, worker: WorkerView, truth: Truth) -> bool:
    """S10: a worker that has forgotten a context never has it again."""
    del seen
    return worker.worker not in truth.forgot or worker.context == "absent"


# -- pairs -------------------------------------------------------------------------------------------------------------


def every_recv_has_its_send(seen: Observation, pair: PairId, truth: Truth) -> bool:
    """S5: where a recv is recorded, its send is recorded on the worker that the tensors came from."""
    assert truth.graph is not None, "a pair has a graph"
    workers, ends = {one.worker: one for one in seen.workers}, truth.graph.pairs[pair]
    source, target = workers.get(worker_name(ends.source)), workers.get(worker_name(ends.target))
    if source is None or target is None or source.context != "open":
        return True
    return pair not in target.recvs or pair in source.sends


# -- passes ------------------------------------------------------------------------------------------------------------


def no_pass_goes_on_where_it_ended(seen: Observation, one: PassView, truth: Truth) -> bool:
    """S9, at the root: a pass that is over is over at its root."""
    del truth
    return one.phase in RUNNING or one.number not in _engaged(
        worker for worker in seen.workers if worker.worker == one.root
    )


def backward_returns_when_nobody_is_in_the_pass(seen: Observation, one: PassView, truth: Truth) -> bool:
    """S11: `backward` returns only when no worker is in its pass."""
    del truth
    return one.phase != ENDED_WELL or one.number not in _engaged(seen.workers)


def _engaged(workers: Iterable[WorkerView]) -> set[int]:
    return {worker.task.number for worker in workers if worker.task is not None}


def a_pass_fails_for_a_reason_of_its_own(seen: Observation, one: PassView, truth: Truth) -> bool:
    """L6: a pass fails only if something went wrong in it: what happened to an earlier pass is no reason."""
    del seen
    if one.phase in RUNNING or one.phase == ENDED_WELL:
        return True
    cause, _, blamed = one.phase.partition(" ")
    reasons = {
        "RAISED": truth.raised,
        "TIMED_OUT": truth.timed_out,
        "UNREACHED": not truth.smart,
        "BUSY": any(root != one.root for root in truth.roots.values()),
        "RELEASED": truth.released or worker_name(CREATOR) in truth.dead,
        "DIED": blamed in truth.dead,
    }
    return reasons.get(cause, False)


def fast_completes_exactly_when_it_can(seen: Observation, one: PassView, truth: Truth) -> bool:
    """T1: FAST ends well if every send on a worker that takes part gets a gradient, and else names one that does not."""
    del seen
    is_asked = one.phase in (ENDED_WELL, "UNREACHED") and not truth.smart and truth.is_recorded_at_once
    if not is_asked or truth.dead:
        return True
    assert truth.graph is not None, "a pass has a graph"
    without = _unreached(truth.graph, one.root, truth.attached)
    return not without if one.phase == ENDED_WELL else not without.isdisjoint(one.unreached)


@cache
def _unreached(graph: Graph, root: str, attached: frozenset[PairId]) -> frozenset[PairId]:
    return unreached(graph, worker_named(root), attached, frozenset(graph.pair_ids))


# -- the list ----------------------------------------------------------------------------------------------------------

OF_WORKERS: Final[dict[Callable[[Observation, WorkerView, Truth], bool], tuple[str, str]]] = {
    gradients_are_those_of_one_process: ("S1", "A13"),
    a_forgotten_context_stays_forgotten: ("S10", "A25"),
    no_pass_survives_its_context: ("S9", "A24"),
}
"""What is said of each worker, with the property it belongs to and its clause."""

OF_PAIRS: Final[dict[Callable[[Observation, PairId, Truth], bool], tuple[str, str]]] = {
    every_recv_has_its_send: ("S5", "A7"),
}
"""What is said of each pair."""

OF_PASSES: Final[dict[Callable[[Observation, PassView, Truth], bool], tuple[str, str]]] = {
    no_pass_goes_on_where_it_ended: ("S9", "A24"),
    backward_returns_when_nobody_is_in_the_pass: ("S11", "A14"),
    a_pass_fails_for_a_reason_of_its_own: ("L6", "A12"),
    fast_completes_exactly_when_it_can: ("T1", "A15"),
}
"""What is said of each pass that has begun."""


def visible(observation: Observation, truth: Truth, touched: Iterable[str]) -> list[Violation]:
    """List what those named violate, as far as it can be seen."""
    return list(_violated(observation, truth, set(touched))) if truth.graph is not None else []


def _violated(seen: Observation, truth: Truth, touched: set[str]) -> Iterator[Violation]:
    assert truth.graph is not None, "nothing is violated before the choice"
    for worker in seen.workers:
        if f"worker {worker.worker}" in touched:
            yield from violated(OF_WORKERS, f"worker {worker.worker}", seen, worker, truth)
    for pair in truth.graph.pair_ids:
        if f"pair {pair}" in touched:
            yield from violated(OF_PAIRS, f"pair {pair}", seen, pair, truth)
    for one in seen.passes:
        if f"pass {one.number}" in touched:
            yield from violated(OF_PASSES, f"pass {one.number}", seen, one, truth)


def model_truth(world: World, bounds: Bounds) -> Truth:
    """Say what the model knows, for an implementation that does not say what its application knows."""
    begun = [(number, pass_of(world, number).root) for number in bounds.pass_ids]
    return Truth(
        graph=None if world.graph is None else graph_of(world, bounds),
        smart=bounds.smart,
        is_recorded_at_once=not bounds.forward,
        roots={number: worker_name(root) for number, root in begun if root is not None},
        detached={*world.detached.members()},
        raised=world.budgets.failures < bounds.failures,
        timed_out=world.budgets.timeouts < bounds.timeouts,
        released=world.released,
        dead={worker_name(WorkerId(who)) for who in world.dead.members()},
    )
