"""The smallest program with a gradient that crosses processes: one call there and back, then one backward pass.

    python examples/two_workers.py

Two tensors go to a worker, their sum comes back, and a loss is computed from it here. The tensors are parameters of this
process, so their gradients have to travel to the worker and back. Compare them with what one process gives: they are equal.
"""

from __future__ import annotations

from farref.impl import launch, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.tape import Tensor, tensor


def add(a: Tensor, b: Tensor) -> Tensor:
    """Run on the worker. What it computes is recorded there."""
    return a + b


def main() -> None:
    """Compute a loss with the help of a worker, and its gradients."""
    a = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = tensor([[0.5, 0.5], [0.5, 0.5]], requires_grad=True)
    scale = tensor([[2.0, 0.0], [1.0, -1.0]], requires_grad=True)

    with launch(1, allow=[__name__]), context() as context_id:
        total = rpc_sync("worker1", add, [a, b])
        loss = (total * scale).sum()
        backward(context_id, [loss])
        far = get_gradients(context_id)

    ((a + b) * scale).sum().backward()
    for name, parameter in {"a": a, "b": b, "scale": scale}.items():
        assert parameter.grad is not None
        print(f"{name}: {far[parameter].data.tolist()} far, {parameter.grad.data.tolist()} near")


if __name__ == "__main__":
    main()
