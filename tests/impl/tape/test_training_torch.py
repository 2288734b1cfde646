"""A network trained for a few steps here and by PyTorch, where that is installed, from the same start on the same examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farref.impl import tape

torch = pytest.importorskip("torch")


def trained(module: Any, losses: Any, optimizers: Any, loss: str, optimizer: str) -> list[Any]:
    """Train three layers, of which one is skipped in half of the steps and so has no gradient there."""
    random = np.random.default_rng(0)
    shapes = ((5, 8), (8,), (8, 8), (8, 3), (3,))
    w1, b1, w2, w3, b3 = parameters = [module.tensor(random.normal(size=shape), requires_grad=True) for shape in shapes]
    examples, targets = module.tensor(random.normal(size=(7, 5))), random.integers(3, size=7)
    wanted = module.tensor(targets if loss == "cross_entropy" else np.eye(3)[targets])
    local = getattr(optimizers, optimizer)(parameters, lr=0.05)
    for step in range(6):
        hidden = module.tanh(examples @ w1 + b1)
        if step % 2:
            hidden = module.relu(hidden @ w2) + hidden[:, :1]
        local.zero_grad()
        getattr(losses, loss)(hidden @ w3 + b3, wanted).backward()
        assert (w2.grad is None) == (step % 2 == 0)
        local.step()
    return [parameter.detach().numpy() for parameter in parameters]


@pytest.mark.parametrize("loss", ["cross_entropy", "mse_loss"])
@pytest.mark.parametrize("optimizer", ["SGD", "Adagrad", "RMSprop", "Adam", "AdamW"])
def test_both_arrive_at_the_same_parameters(loss: str, optimizer: str) -> None:
    ours = trained(tape, tape, tape, loss, optimizer)
    theirs = trained(torch, torch.nn.functional, torch.optim, loss, optimizer)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
