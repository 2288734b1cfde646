"""Random programs with floating-point numbers: gradients across workers match other ways to get them.

Tolerances, relative to the largest gradient: 1e-12 against HIPS autograd and PyTorch, which add in another order, and 1e-5
against central differences, which are an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import autograd as hips
import autograd.numpy as hips_numpy
import numpy as np
import pytest

from farref.impl import tape
from farref.impl.core.ids import WorkerId
from farref.impl.tape import Tensor, tensor
from farref.model.autograd.graphs import Entry, Graph, Leaf, Root, Send
from farref.model.ids import WorkerId as ModelWorkerId
from farref.properties.autograd.schedules import draw_graph
from farref.properties.twin.backends.autograd.simulated import SeenAutograd
from farref.properties.twin.backends.autograd.tensors import LEAF, Terms, WorkerTensors

EXACT, APPROXIMATE, STEP = 1e-12, 1e-5, 1e-6
SCALE = 0.05
SEEDS = range(40)

Numbers = Any


class CurvedTensors(WorkerTensors):
    """Tensors that are curved functions of what they depend on."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.leaf = tensor(value, requires_grad=True)

    def computed(self, terms: Terms, scale: int = 1) -> Tensor:
        total = tensor(0.0, requires_grad=True) * 1.0
        for pair, weight in terms:
            total = total + (self.leaf if pair == LEAF else self.received[pair]) * (SCALE * weight * scale)
        return tape.tanh(total)


def terms(graph: Graph, entry: Entry) -> Terms:
    flows = [flow for flow in graph.flows if flow.entry == entry]
    return tuple((LEAF if isinstance(flow.exit, Leaf) else flow.exit.pair, flow.weight) for flow in flows)


def far_gradients(graph: Graph, root: ModelWorkerId, leaves: Sequence[float], random: Random) -> list[float]:
    """Run the program over the simulated network, in some order; give each worker's gradient, 0 where there is none."""
    world = SeenAutograd(graph.workers)
    world.tensors = {worker: CurvedTensors(leaves[worker]) for worker in world.cores}
    for pair in graph.pair_ids:
        ends = graph.pairs[pair]
        world.send_tensors(
            WorkerId(ends.source), WorkerId(ends.target), pair, terms(graph, Send(pair)), attached=True, decoy=False
        )
        world.deliver(world.in_flight()[-1].id)
    pass_id = world.begin_pass(WorkerId(root), terms(graph, Root(root)), 1, smart=True)
    while flights := world.in_flight():
        world.deliver(random.choice(flights).id)
    assert world.ended[pass_id].fault is None
    tables = {worker: core.engine.contexts.get(world.context) for worker, core in world.cores.items()}
    seen = {worker: world.tensors[worker].gradient(one.gradients) for worker, one in tables.items() if one is not None}
    return [seen.get(WorkerId(worker)) or 0.0 for worker in range(graph.workers)]


def near(graph: Graph, root: ModelWorkerId, leaves: Numbers, tanh: Callable[[Any], Any]) -> Any:
    """Compute the same in one process."""

    def value(entry: Entry, worker: int) -> Any:
        total = 0.0 * leaves[0]
        for pair, weight in terms(graph, entry):
            ends = None if pair == LEAF else graph.pairs[pair]
            part = leaves[worker] if ends is None else value(Send(pair), ends.source)  # type: ignore[arg-type]
            total = total + part * (SCALE * weight)
        return tanh(total)

    return value(Root(root), root)


def programs() -> list[tuple[Graph, ModelWorkerId, list[float], Random]]:
    found = []
    for seed in SEEDS:
        random = Random(seed)
        graph = draw_graph(random, 1)
        leaves = [random.uniform(-1.0, 1.0) for _ in range(graph.workers)]
        found.append((graph, random.choice(sorted(graph.roots)), leaves, random))
    return found


def assert_close(found: Sequence[float], wanted: Sequence[float], tolerance: float, graph: Graph) -> None:
    largest = max(1e-3, *(abs(one) for one in wanted))
    assert np.allclose(found, wanted, rtol=0.0, atol=tolerance * largest), graph.name


@pytest.mark.parametrize("program", programs(), ids=SEEDS)
def test_hips_autograd_and_central_differences(program: tuple[Graph, ModelWorkerId, list[float], Random]) -> None:
    graph, root, leaves, random = program
    far = far_gradients(graph, root, leaves, random)
    gradient = hips.grad(lambda given: near(graph, root, given, hips_numpy.tanh))
    assert_close(far, gradient(np.array(leaves)), EXACT, graph)
    differences = []
    for worker in range(graph.workers):
        up, down = (np.array(leaves) for _ in range(2))
        up[worker] += STEP
        down[worker] -= STEP
        rise = near(graph, root, up, np.tanh) - near(graph, root, down, np.tanh)
        differences.append(float(rise) / (2 * STEP))
    assert_close(far, differences, APPROXIMATE, graph)


def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for graph, root, leaves, random in programs():
        given = torch.tensor(leaves, dtype=torch.float64, requires_grad=True)
        near(graph, root, given, torch.tanh).backward()
        assert_close(far_gradients(graph, root, leaves, random), given.grad.tolist(), EXACT, graph)
