"""Three simulated workers with a context, for tests that say message by message what happens."""

from __future__ import annotations

from collections.abc import Callable

from farref.impl.core.ids import WorkerId
from farref.impl.simulated.autograd import AutogradSimulation
from farref.impl.tape import Tensor, tensor
from tests.impl.core.simulation import A, B, C, under_way


class World(AutogradSimulation):
    """Three workers and a context that A opened; x is A's parameter, and w one of B and one of C."""

    def __init__(self) -> None:
        super().__init__(3)
        self.context = self.open_context(A)
        self.x = tensor(2.0, requires_grad=True)
        self.w = {B: tensor(3.0, requires_grad=True), C: tensor(7.0, requires_grad=True)}

    def sent(self, source: WorkerId, target: WorkerId, *tensors: Tensor) -> list[Tensor]:
        """Send tensors, and let them arrive."""
        forward = self.call(source, target, self.context, tensors)
        self.deliver(self.in_flight()[-1].id)
        return self.received[forward]

    def asked(self, target: WorkerId, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Let A call a function on a worker, with x as its argument."""
        (there,) = self.sent(A, target, self.x)
        return self.sent(target, A, function(there))[0]

    def told(self, target: WorkerId, result: Callable[[], Tensor]) -> Tensor:
        """Let A call a function on a worker, without a tensor."""
        self.sent(A, target)
        return self.sent(target, A, result())[0]

    def seen(self, worker: WorkerId) -> dict[Tensor, float]:
        context = self.cores[worker].engine.contexts.get(self.context)
        return {} if context is None else {leaf: float(value) for leaf, value in context.gradients.items()}

    def in_pass(self, worker: WorkerId) -> bool:
        context = self.cores[worker].engine.contexts.get(self.context)
        return context is not None and context.task is not None

    def let(self, wanted: type, target: WorkerId | None = None) -> None:
        """Let the oldest message of a kind arrive, and be worked on."""
        self.deliver(under_way(self, wanted, target))
        self.do()

    def do(self) -> None:
        while self.working:
            self.work(self.workable()[0])
