"""Floats of a distributed pass against others: HIPS autograd, finite differences, PyTorch where it is installed (A26).

What is compared are whole programs over three workers, with messages in a random order. The tolerances:

- with float64, HIPS autograd, PyTorch and the tape in one process: 1e-9 of the value, or 1e-12;
- with float64, finite differences, which are coarse themselves: 1e-5, or 1e-7;
- with float32, against float64: 1e-3, or 1e-4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from farref.impl import launch, rpc_sync, tape
from farref.impl.autograd import backward, context, get_gradients
from tests.impl.autograd.float_programs import Plan, carried_out
from tests.impl.far import autograd as far

autograd = pytest.importorskip("autograd")

SEEDS = range(12)
NUDGE = 1e-6


def by_autograd(plan: Plan) -> list[Any]:
    import autograd.numpy as anp

    gradient = autograd.grad(lambda leaves: plan.loss(anp, leaves))
    return list(gradient([array for _, array in plan.leaves]))


def assert_close(found: list[Any], wanted: list[Any], relative: float, absolute: float) -> None:
    """A leaf that nothing depends on has no gradient here, and zeros elsewhere (A22)."""
    for ours, theirs in zip(found, wanted, strict=True):
        one = np.zeros_like(theirs) if ours is None else ours
        np.testing.assert_allclose(one, theirs, rtol=relative, atol=absolute)


@pytest.mark.parametrize("seed", SEEDS)
def test_A26_hips_autograd_finds_the_same(seed: int) -> None:
    plan = Plan.drawn(seed)
    found = carried_out(plan, tape).gradients(seed, smart=True)
    assert any(one is not None and np.any(one) for one in found)
    assert_close(found, by_autograd(plan), 1e-9, 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_A15_fast_finds_the_same_where_it_suffices(seed: int) -> None:
    plan = Plan.drawn(seed)
    assert_close(carried_out(plan, tape).gradients(seed, smart=False), by_autograd(plan), 1e-9, 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_A16_smart_finds_the_same_with_a_call_in_vain(seed: int) -> None:
    plan = Plan.drawn(seed)
    assert_close(carried_out(plan, tape, in_vain=True).gradients(seed, smart=True), by_autograd(plan), 1e-9, 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_A26_one_process_finds_the_same(seed: int) -> None:
    plan = Plan.drawn(seed)
    leaves = [tape.tensor(array, requires_grad=True) for _, array in plan.leaves]
    found = tape.gradients([plan.loss(tape, leaves)])
    wanted = [found[leaf] if leaf in found else np.zeros_like(leaf.data) for leaf in leaves]
    assert_close(carried_out(plan, tape).gradients(seed, smart=True), wanted, 1e-9, 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_A26_finite_differences_find_the_same(seed: int) -> None:
    """Along a random direction of all leaves at once."""
    plan, random = Plan.drawn(seed), np.random.default_rng(seed)
    points = [array for _, array in plan.leaves]
    ways = [random.normal(size=point.shape) for point in points]
    ahead, behind = (
        plan.loss(np, [point + sign * NUDGE * way for point, way in zip(points, ways, strict=True)]) for sign in (1, -1)
    )
    found = carried_out(plan, tape).gradients(seed, smart=True)
    slope = sum(float((one * way).sum()) for one, way in zip(found, ways, strict=True) if one is not None)
    np.testing.assert_allclose(slope, (ahead - behind) / (2 * NUDGE), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_A26_pytorch_finds_the_same(seed: int) -> None:
    torch = pytest.importorskip("torch")
    plan = Plan.drawn(seed)
    leaves = [torch.tensor(array, requires_grad=True) for _, array in plan.leaves]
    plan.loss(torch, leaves).backward()
    wanted = [np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    assert_close(carried_out(plan, tape).gradients(seed, smart=True), wanted, 1e-9, 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_A26_half_the_digits_are_right_with_float32(seed: int) -> None:
    plan = Plan.drawn(seed)
    found = carried_out(plan, tape, dtype="float32").gradients(seed, smart=True)
    assert all(one is None or one.dtype == np.float32 for one in found)
    assert_close(found, by_autograd(plan), 1e-3, 1e-4)


def test_A26_between_processes() -> None:
    """Two layers on two workers, with parameters on each and an input here."""
    import autograd.numpy as anp

    random = np.random.default_rng(0)
    x, w1, w2 = (random.normal(size=(3, 3)) for _ in range(3))
    here = tape.tensor(x, requires_grad=True)
    with launch(["B", "C"], allow=[far.__name__], rpc_timeout=20), context() as context_id:
        for name, matrix in (("B", w1), ("C", w2)):
            rpc_sync(name, far.parameter, ["w", matrix.tolist()])
        loss = rpc_sync("C", far.dense, ["w", rpc_sync("B", far.dense, ["w", here])]).sum()
        backward(context_id, [loss])
        found = [get_gradients(context_id)[here].data]
        found += [rpc_sync(name, far.gradient, [context_id, "w"]) for name in ("B", "C")]
    wanted = autograd.grad(lambda leaves: anp.tanh(anp.tanh(leaves[0] @ leaves[1]) @ leaves[2]).sum())([x, w1, w2])
    assert_close(found, list(wanted), 1e-9, 1e-12)
