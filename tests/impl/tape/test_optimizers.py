"""Optimizers: steps worked out by hand, and the same steps as PyTorch where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from farref.impl import tape
from farref.impl.tape import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop, Tensor, tensor

Make = Callable[[list[Tensor]], Optimizer]

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.1, "alpha": 0.5, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.9, "centered": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.1, "betas": (0.5, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
]


def path(make: Make, *gradients: float, start: float = 1.0) -> list[float]:
    """Where a parameter goes, step by step."""
    parameter = tensor(start, requires_grad=True)
    optimizer = make([parameter])
    places = []
    for gradient in gradients:
        parameter.grad = tensor(gradient)
        optimizer.step()
        places.append(parameter.item())
    return places


def test_sgd() -> None:
    assert path(lambda p: SGD(p, lr=0.5), 2.0, -4.0) == [0, 2]
    assert path(lambda p: SGD(p), 1.0) == [1 - 1e-3]
    assert path(lambda p: SGD(p, lr=1, weight_decay=0.5), 2.0) == [1 - (2 + 0.5)]


def test_sgd_with_momentum() -> None:
    assert path(lambda p: SGD(p, lr=1, momentum=0.5), 1.0, 1.0, 0.0) == [0, -1.5, -2.25]
    assert path(lambda p: SGD(p, lr=1, momentum=0.5, dampening=0.5), 1.0, 1.0) == [0, -1]
    assert path(lambda p: SGD(p, lr=1, momentum=0.5, nesterov=True), 1.0, 1.0) == [-0.5, -2.25]


def test_adagrad() -> None:
    assert path(lambda p: Adagrad(p, lr=1, eps=0), 3.0, 4.0) == pytest.approx([0, -4 / 5])
    assert path(lambda p: Adagrad(p, lr=1, lr_decay=1, eps=0), 3.0, 4.0) == pytest.approx([0, -2 / 5])
    assert path(lambda p: Adagrad(p, lr=1, initial_accumulator_value=16, eps=0), 3.0) == pytest.approx([1 - 3 / 5])


def test_rmsprop() -> None:
    assert path(lambda p: RMSprop(p, lr=1, alpha=0.75, eps=0), 2.0) == pytest.approx([1 - 2 / 1])
    assert path(lambda p: RMSprop(p, lr=1, alpha=0.75, eps=1), 2.0) == pytest.approx([1 - 2 / 2])
    assert path(lambda p: RMSprop(p, lr=1, alpha=0.5, eps=0, centered=True), 2.0) == pytest.approx([1 - 2 / 1])
    assert path(lambda p: RMSprop(p, lr=1, alpha=0, eps=0, momentum=0.5), 2.0, 3.0) == pytest.approx([0, -1.5])


def test_adam() -> None:
    assert path(lambda p: Adam(p, lr=0.5, eps=0), 2.0, 2.0) == pytest.approx([0.5, 0])
    assert path(lambda p: Adam(p, lr=0.5, betas=(0, 0), eps=0), 2.0, -1.0) == pytest.approx([0.5, 1])
    assert path(lambda p: Adam(p, lr=0.5, betas=(0, 0), eps=0, amsgrad=True), 2.0, -1.0) == pytest.approx([0.5, 0.75])
    assert path(lambda p: Adam(p, lr=0.5, eps=0, weight_decay=1), 0.0) == pytest.approx([0.5])


def test_adamw_shrinks_the_parameter_itself() -> None:
    assert path(lambda p: AdamW(p, lr=0.5, eps=0, weight_decay=0.5), 2.0) == pytest.approx([0.75 - 0.5])
    assert path(lambda p: AdamW(p, lr=0.5), 0.0) == pytest.approx([1 - 0.5 * 1e-2])


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_parameter_without_gradient_is_skipped(name: str, settings: dict[str, Any], dtype: type) -> None:
    moved, still = tensor([1.0, 2.0], dtype, requires_grad=True), tensor([1.0], dtype, requires_grad=True)
    optimizer = getattr(tape, name)([moved, still], **settings)
    for _ in range(2):
        moved.grad, still.grad = tensor([1.0, 1.0], dtype), None
        optimizer.step()
    assert still.data.tolist() == [1]
    assert optimizer.state[still] == {}
    assert (moved.data < [1, 2]).all()
    assert moved.dtype == dtype


def test_gradients_may_come_from_a_mapping() -> None:
    x, y = tensor(1.0, requires_grad=True), tensor(1.0, requires_grad=True)
    y.grad = tensor(5.0)
    SGD([x, y], lr=1).step({x: np.array(0.25)})
    assert (x.item(), y.item(), x.grad) == (0.75, 1, None)


def test_a_step_leaves_what_was_recorded_before_as_it_was() -> None:
    x = tensor(3.0, requires_grad=True)
    y = x * x
    SGD([x], lr=1).step({x: np.array(1.0)})
    y.backward()
    assert x.item() == 2
    assert x.grad is not None
    assert x.grad.item() == 6


def test_zero_grad_forgets() -> None:
    x = tensor(1.0, requires_grad=True)
    x.grad = tensor(1.0)
    SGD([x]).zero_grad()
    assert x.grad is None


def test_bad_settings_are_named() -> None:
    x = tensor(1.0, requires_grad=True)
    bad: list[tuple[Callable[[], Optimizer], str]] = [
        (lambda: SGD([x], lr=-1), "Invalid learning rate: -1"),
        (lambda: SGD([x], lr=float("nan")), "Invalid learning rate: nan"),
        (lambda: SGD([x], momentum=-1), "Invalid momentum value: -1"),
        (lambda: SGD([x], nesterov=True), "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: Adagrad([x], lr_decay=-1), "Invalid lr_decay value: -1"),
        (lambda: RMSprop([x], alpha=-1), "Invalid alpha value: -1"),
        (lambda: Adam([x], betas=(0.9, 1.0)), "Invalid beta parameter at index 1: 1.0"),
        (lambda: AdamW([x], weight_decay=-1), "Invalid weight_decay value: -1"),
        (lambda: SGD([x * 2]), "can't optimize a non-leaf Tensor"),
        (lambda: SGD([x, x]), "a parameter is given twice"),
    ]
    for make, words in bad:
        with pytest.raises(ValueError, match=words):
            make()


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_pytorch_goes_the_same_way(name: str, settings: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(0)
    start = random.normal(size=(2, 3))
    ours, theirs = tensor(start, requires_grad=True), torch.tensor(start, requires_grad=True)
    optimizers = getattr(tape, name)([ours], **settings), getattr(torch.optim, name)([theirs], **settings)
    for _ in range(10):
        gradient = random.normal(size=(2, 3))
        ours.grad, theirs.grad = tensor(gradient), torch.tensor(gradient)
        for optimizer in optimizers:
            optimizer.step()
        np.testing.assert_allclose(ours.data, theirs.detach().numpy(), rtol=1e-10)
