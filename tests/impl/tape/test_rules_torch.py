"""Each rule against PyTorch, where it is installed: the same function, the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farref.impl import tape
from tests.impl.tape.cases import CASES, Case, found_by_the_tape, values, weights

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{i}" for i, case in enumerate(CASES)])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_pytorch_finds_the_same(case: Case, data: st.DataObject, seed: int) -> None:
    inputs = values(case, data.draw(st.just(case.sample) | case.shapes), seed)
    result, gradients = found_by_the_tape(case, inputs, seed)
    leaves = [torch.tensor(array, requires_grad=True) for array in inputs]
    theirs = case.of_tape(torch, *leaves)
    theirs.backward(torch.tensor(weights(result, seed)))
    np.testing.assert_allclose(result, theirs.detach().numpy(), rtol=1e-12, atol=1e-12)
    for gradient, leaf in zip(gradients, leaves, strict=True):
        np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_the_same_graphs_can_be_walked_again() -> None:
    """But for one: here the places that an array of indices names are kept with the node, and not freed."""
    different = [case.rule for case in CASES if second_pass(tape, case) != second_pass(torch, case)]
    assert different == ["getitem", "getitem"]


def second_pass(module: Any, case: Case) -> bool:
    """Say whether a graph can be walked again after a pass that was not told to keep it."""
    loss = case.of_tape(module, *(module.tensor(one, requires_grad=True) for one in values(case, case.sample, 0))).sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        if "backward through the graph a second time" not in str(error).lower():
            raise
        return False
    return True


def test_kinks_are_the_same() -> None:
    functions: tuple[Callable[[Any, Any], Any], ...] = (
        lambda f, x: f.relu(x),
        lambda f, x: abs(x),
        lambda f, x: f.maximum(x, f.tensor([0.0, 1.0, 1.0])),
        lambda f, x: f.minimum(x, f.tensor([0.0, 1.0, 1.0])),
        lambda f, x: x.amax(),
        lambda f, x: x.amin(),
        lambda f, x: x**0,
    )
    for function in functions:
        found = []
        for module in (tape, torch):
            x: Any = module.tensor([0.0, 1.0, 1.0], requires_grad=True)
            function(module, x).sum().backward()
            assert x.grad is not None
            found.append(x.grad.numpy().tolist())
        assert found[0] == found[1]
