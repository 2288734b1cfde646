"""A network whose layers live in three processes, trained with one optimizer over all of them.

    python examples/model_parallel.py [steps]

Each layer's parameters stay where they are; activations go forward through the processes, gradients come back through them,
and `DistributedOptimizer` has every process move its own parameters. The same network is then trained in this process alone.
Since every sum is computed in the same order, the parameters come out equal to the last bit.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from farref.impl import RRef, launch, remote
from farref.impl.autograd import DistributedOptimizer, backward, context
from farref.impl.tape import Adam, Tensor, mse_loss, tanh, tensor

SIZES = [(3, 16), (16, 8), (8, 1)]
PLACES = ["worker1", "worker2", "driver"]


class Layer:
    """A matrix and a bias, with a bend unless it is the last."""

    def __init__(self, index: int) -> None:
        random = np.random.default_rng(index)
        size = SIZES[index]
        self.weight = tensor(random.normal(size=size) / np.sqrt(size[0]), requires_grad=True)
        self.bias = tensor(np.zeros(size[1]), requires_grad=True)
        self.is_last = index == len(SIZES) - 1

    def forward(self, x: Tensor) -> Tensor:
        """Compute the layer where it is."""
        y = x @ self.weight + self.bias
        return y if self.is_last else tanh(y)

    def parameters(self) -> list[RRef]:
        """References to the parameters, for the optimizer."""
        return [RRef(self.weight), RRef(self.bias)]

    def values(self) -> list[Any]:
        """The parameters as plain arrays."""
        return [self.weight.data, self.bias.data]


def data() -> tuple[Tensor, Tensor]:
    """Some points, and a function of them to be learnt."""
    x = np.random.default_rng(7).normal(size=(64, 3))
    y = np.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]
    return Tensor(x), Tensor(y)


def train_far(steps: int) -> tuple[list[float], list[Any]]:
    """Train with one layer in each process."""
    x, y = data()
    layers = [remote(place, Layer, [index]) for index, place in enumerate(PLACES)]
    parameters = [parameter for layer in layers for parameter in layer.rpc_sync().parameters()]
    optimizer = DistributedOptimizer(Adam, parameters, lr=0.02)
    losses = []
    for _ in range(steps):
        with context() as context_id:
            output = x
            for layer in layers:
                output = layer.rpc_sync().forward(output)
            loss = mse_loss(output, y)
            backward(context_id, [loss])
            optimizer.step(context_id)
            losses.append(loss.item())
    return losses, [value for layer in layers for value in layer.rpc_sync().values()]


def train_near(steps: int) -> list[Any]:
    """Train the same network in this process."""
    x, y = data()
    layers = [Layer(index) for index in range(len(SIZES))]
    optimizer = Adam([parameter for layer in layers for parameter in (layer.weight, layer.bias)], lr=0.02)
    for _ in range(steps):
        output = x
        for layer in layers:
            output = layer.forward(output)
        optimizer.zero_grad()
        mse_loss(output, y).backward()
        optimizer.step()
    return [value for layer in layers for value in layer.values()]


def main() -> None:
    """Train twice, and compare."""
    given = sys.argv[1:] or ["100"]
    if len(given) > 1 or not given[0].isdecimal() or int(given[0]) == 0:
        print("usage: python examples/model_parallel.py [steps, at least 1]", file=sys.stderr)
        sys.exit(2)
    steps = int(given[0])
    with launch(2, allow=[__name__]):
        losses, far = train_far(steps)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4}: loss {losses[step]:.6f}")
    print(f"after {steps}:  loss {losses[-1]:.6f}")
    equal = all(np.array_equal(a, b) for a, b in zip(far, train_near(steps), strict=True))
    print(f"parameters equal to those of one process, to the last bit: {equal}")


if __name__ == "__main__":
    main()
