"""Random programs of matrices, as data: what is computed from what, and on which worker.

A plan can be carried out by anything that has `tanh` and `sin` and knows `+`, `*` and `@`: by simulated workers, where a value
that is needed elsewhere is sent there, or in one process by whatever library.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np

from farref.impl.core.ids import WorkerId
from farref.impl.simulated.autograd import AutogradSimulation
from farref.impl.tape import Tensor, tensor
from tests.impl.core.autograd.programs import settle

SIZE: Final = 3
Functions = Any
"""A module with `tanh` and `sin`."""

OPERATIONS: Final[dict[str, Callable[[Functions, Any, Any], Any]]] = {
    "dense": lambda module, one, other: module.tanh(one @ other),
    "sum": lambda _module, one, other: one + other,
    "product": lambda _module, one, other: one * other,
    "wave": lambda module, one, _other: module.sin(one),
}


@dataclass(frozen=True)
class Step:
    """Compute something of two values, which are numbered from the leaves on, on a worker."""

    operation: str
    one: int
    other: int
    worker: WorkerId


@dataclass(frozen=True)
class Plan:
    """The leaves, each with its worker, and the steps. The loss is the sum of the last value's elements."""

    leaves: tuple[tuple[WorkerId, Any], ...]
    steps: tuple[Step, ...]

    @classmethod
    def drawn(cls, seed: int, workers: int = 3, steps: int = 12) -> Plan:
        random, numbers = Random(seed), np.random.default_rng(seed)
        leaves = tuple((WorkerId(rank % workers), numbers.normal(size=(SIZE, SIZE))) for rank in range(2 * workers))
        made = []
        for number in range(len(leaves), len(leaves) + steps):
            # The newest value is always used, so that what is computed matters to the loss.
            one, other = number - 1, random.randrange(number)
            made.append(Step(random.choice(list(OPERATIONS)), one, other, WorkerId(random.randrange(workers))))
        return cls(leaves, tuple(made))

    def loss(self, module: Functions, leaves: Sequence[Any]) -> Any:
        """Carry the plan out in one process."""
        values = list(leaves)
        for step in self.steps:
            values.append(OPERATIONS[step.operation](module, values[step.one], values[step.other]))
        return values[-1].sum()


@dataclass
class Carried:
    """A plan that simulated workers have carried out."""

    world: AutogradSimulation
    context: Any
    leaves: list[Tensor]
    loss: Tensor
    root: WorkerId

    def gradients(self, seed: int, smart: bool) -> list[Any]:
        """Run a pass, with its messages in a random order; say what each leaf got."""
        pass_id = self.world.backward(self.root, self.context, [self.loss], smart)
        settle(self.world, Random(seed), faults=3)
        assert self.world.ended[pass_id].fault is None
        tables = [core.engine.contexts[self.context].gradients for core in self.world.cores.values()]
        return [next((table[leaf] for table in tables if leaf in table), None) for leaf in self.leaves]


def carried_out(plan: Plan, module: Functions, dtype: str = "float64", in_vain: bool = False) -> Carried:
    """Carry a plan out on simulated workers; if wanted, with a call at the end that nobody uses."""
    world = AutogradSimulation(3)
    context = world.open_context(WorkerId(0))
    leaves = [tensor(array, dtype=dtype, requires_grad=True) for _, array in plan.leaves]
    values = [(worker, leaf) for (worker, _), leaf in zip(plan.leaves, leaves, strict=True)]

    def sent(index: int, target: WorkerId) -> Tensor:
        worker, value = values[index]
        forward = world.call(worker, target, context, [value])
        world.deliver(world.in_flight()[-1].id)
        return world.received[forward][0]

    def here(index: int, worker: WorkerId) -> Tensor:
        return values[index][1] if values[index][0] == worker else sent(index, worker)

    for worker in world.cores:
        world.call(WorkerId(0), worker, context, [])
        world.deliver(world.in_flight()[-1].id)
    for step in plan.steps:
        one = here(step.one, step.worker)
        # Nothing travels that is not used: FAST would wait for its gradient (A15).
        other = one if step.operation == "wave" else here(step.other, step.worker)
        values.append((step.worker, OPERATIONS[step.operation](module, one, other)))
    if in_vain:
        sent(len(values) - 1, WorkerId((values[-1][0] + 1) % 3))
    return Carried(world, context, leaves, values[-1][1].sum(), values[-1][0])
