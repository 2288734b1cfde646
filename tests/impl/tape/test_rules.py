"""Each rule against finite differences, on its kinks, on whole numbers, and against its own mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farref.impl import tape
from farref.impl.tape import RULES, Rule
from tests.impl.tape.cases import CASES, Case, check_by_differences

each_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}-{i}" for i, case in enumerate(CASES)])
PRODUCTS = [
    (name, position)
    for name, rule in RULES.items()
    for position in range(len(rule.vjps) if isinstance(rule.vjps, tuple) else 3)
    if (name, position) != ("where", 0)  # a condition has no gradient
]


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} == set(RULES)


@each_case
@settings(max_examples=25, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_a_gradient_is_the_change_of_the_result(case: Case, data: st.DataObject, seed: int) -> None:
    check_by_differences(case, data.draw(case.shapes), seed)


@each_case
def test_a_case_passes_on_its_sample(case: Case) -> None:
    check_by_differences(case, case.sample, seed=0)


@contextmanager
def mutated(rule: Rule, position: int, change: Callable[[Any], Any]) -> Iterator[None]:
    """Change what a rule returns for one input, for a while."""
    before = rule.vjps

    def vjp(at: int) -> Callable[..., Any]:
        product = before[at] if isinstance(before, tuple) else lambda *saved, **more: before(at, *saved, **more)
        return lambda *saved, **more: change(product(*saved, **more)) if at == position else product(*saved, **more)

    object.__setattr__(rule, "vjps", lambda at, *saved, **more: vjp(at)(*saved, **more))
    try:
        yield
    finally:
        object.__setattr__(rule, "vjps", before)


@pytest.mark.parametrize(("name", "position"), PRODUCTS)
@pytest.mark.parametrize("change", [np.negative, lambda g: 2 * g, np.zeros_like], ids=["sign", "twice", "zero"])
def test_a_wrong_product_is_noticed(name: str, position: int, change: Callable[[Any], Any]) -> None:
    with mutated(RULES[name], position, change), pytest.raises(AssertionError):
        check_samples_of(name)


def check_samples_of(name: str) -> None:
    for case in CASES:
        if case.rule == name:
            check_by_differences(case, case.sample, seed=0)


def gradient_at(function: Callable[[tape.Tensor], tape.Tensor], *points: float) -> list[float]:
    x = tape.tensor(points, np.float64, requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    found: list[float] = x.grad.data.tolist()
    return found


def test_kinks_are_as_in_pytorch() -> None:
    assert gradient_at(tape.relu, 0.0, -0.0) == [0, 0]
    assert gradient_at(abs, 0.0) == [0]
    assert gradient_at(lambda x: tape.maximum(x, 1.0), 0.0, 1.0, 2.0) == [0, 0.5, 1]
    assert gradient_at(lambda x: tape.minimum(x, 1.0), 0.0, 1.0, 2.0) == [1, 0.5, 0]
    assert gradient_at(lambda x: tape.maximum(x, x), 1.0) == [1]
    assert gradient_at(lambda x: x.amax(), 3.0, 1.0, 3.0) == [0.5, 0, 0.5]
    assert gradient_at(lambda x: x.amin(), 1.0, 1.0, 3.0, 1.0) == [1 / 3, 1 / 3, 0, 1 / 3]
    assert gradient_at(lambda x: x**0, 0.0, 2.0) == [0, 0]


def test_far_from_zero_nothing_overflows() -> None:
    with np.errstate(over="raise", invalid="raise"):
        assert gradient_at(tape.sigmoid, -1000.0, 1000.0) == [0, 0]
        assert gradient_at(lambda x: tape.log_softmax(x, 0)[0], 1000.0, 0.0) == [0, 0]
        assert gradient_at(lambda x: tape.softmax(x, 0)[0], 1000.0, 0.0) == [0, 0]
    assert tape.sigmoid(tape.tensor(-40.0)).item() == pytest.approx(np.exp(-40), rel=1e-15)


@given(seed=st.integers(0, 2**32 - 1))
def test_whole_numbers_have_exact_gradients(seed: int) -> None:
    """A small network of whole numbers, with its gradient worked out in integers."""
    random = np.random.default_rng(seed)
    x, w, v = (random.integers(-9, 10, shape) for shape in ((4, 3), (3, 5), (5,)))
    tensors = [tape.tensor(array, np.float64, requires_grad=True) for array in (x, w, v)]
    hidden = tape.relu(tensors[0] @ tensors[1])
    ((hidden * hidden) @ tensors[2]).sum().backward()
    h = np.maximum(x @ w, 0)
    back = 2 * h * v
    for leaf, expected in zip(tensors, (back @ w.T, x.T @ back, (h * h).sum(axis=0)), strict=True):
        assert leaf.grad is not None
        assert (leaf.grad.data == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_case
def test_gradients_have_the_dtype_of_their_tensor(case: Case, dtype: type) -> None:
    leaves = [tape.tensor(np.full(shape, 0.5), dtype, requires_grad=True) for shape in case.sample]
    result = case.of_tape(tape, *leaves)
    assert result.dtype == dtype
    result.sum().backward()
    assert all(leaf.grad is not None and leaf.grad.dtype == dtype for leaf in leaves)


def test_mixed_dtypes_combine_and_go_back_apart() -> None:
    narrow, wide = (
        tape.tensor([1.0], np.float32, requires_grad=True),
        tape.tensor([2.0], np.float64, requires_grad=True),
    )
    product = narrow * wide
    product.sum().backward()
    assert product.dtype == np.float64
    assert narrow.grad is not None
    assert wide.grad is not None
    assert (narrow.grad.dtype, wide.grad.dtype) == (np.float32, np.float64)


def test_stack_joins_along_a_new_dimension() -> None:
    a, b = tape.tensor([1.0, 2.0], requires_grad=True), tape.tensor([3.0, 4.0], requires_grad=True)
    stacked = tape.stack([a, b])
    assert stacked.data.tolist() == [[1, 2], [3, 4]]
    (stacked * np.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert (a.grad.data.tolist(), b.grad.data.tolist()) == ([1, 2], [3, 4])


def test_errors_name_the_operation() -> None:
    with pytest.raises(ValueError, match="matmul: "):
        tape.tensor([[1.0]]) @ tape.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="getitem: "):
        tape.tensor([1.0])[3]
    with pytest.raises(ValueError, match="amax: "):
        tape.tensor([]).amax()
    with pytest.raises(TypeError, match="pow: "):
        tape.tensor([1.0]) ** tape.tensor([1.0])  # type: ignore[operator]
