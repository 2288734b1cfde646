"""The two losses: their values and gradients, by hand, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from farref.impl.tape import cross_entropy, mse_loss, tensor


def test_mean_squared_error() -> None:
    prediction = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    loss = mse_loss(prediction, tensor([[1.0, 0.0], [0.0, 0.0]]))
    loss.backward()
    assert loss.item() == (4 + 9 + 16) / 4
    assert prediction.grad is not None
    assert prediction.grad.data.tolist() == [[0, 1], [1.5, 2]]


def test_cross_entropy() -> None:
    logits = tensor(np.log([[1.0, 3.0], [4.0, 1.0], [1.0, 1.0]]), requires_grad=True)
    loss = cross_entropy(logits, [1, 1, 0])
    loss.backward()
    assert loss.item() == pytest.approx(-np.log([3 / 4, 1 / 5, 1 / 2]).mean())
    assert logits.grad is not None
    expected = np.array([[1 / 4, -1 / 4], [4 / 5, -4 / 5], [-1 / 2, 1 / 2]]) / 3
    np.testing.assert_allclose(logits.grad.data, expected, rtol=1e-12)


def test_cross_entropy_of_large_logits() -> None:
    logits = tensor([[1000.0, 0.0]], requires_grad=True)
    loss = cross_entropy(logits, [1])
    loss.backward()
    assert loss.item() == 1000
    assert logits.grad is not None
    assert logits.grad.data.tolist() == [[1, -1]]


def test_bad_input_is_named() -> None:
    logits = tensor([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"mse_loss: a prediction of shape \(2,\) for a target of shape \(2, 1\)"):
        mse_loss(tensor([1.0, 2.0]), tensor([[1.0], [2.0]]))
    for target in ([2], [-1], [0.0]):
        with pytest.raises(ValueError, match="cross_entropy: a target is an integer from 0 to 1"):
            cross_entropy(logits, target)
    with pytest.raises(ValueError, match=r"cross_entropy: logits of shape \(1, 2\)"):
        cross_entropy(logits, [0, 1])
