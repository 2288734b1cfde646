"""Tensors: what requires a gradient, what is recorded, what a gradient is when there is none, and hooks."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from farref.impl import tape
from farref.impl.tape import Tensor, is_grad_enabled, no_grad, set_grad_enabled, tensor


def gradient_of(leaf: Tensor) -> Any:
    assert leaf.grad is not None
    return leaf.grad.data.tolist()


def test_only_floats_can_require_gradients() -> None:
    for data in ([1, 2], [True], np.ones(1, np.float16), np.ones(1, np.complex128)):
        with pytest.raises(TypeError, match="only tensors of float32 and float64 can require gradients"):
            tensor(data, requires_grad=True)
    assert tensor([1.0], requires_grad=True).requires_grad
    assert not tensor([1.0]).requires_grad


def test_results_require_gradients_if_an_input_does() -> None:
    x, c = tensor(1.0, requires_grad=True), tensor(2.0)
    assert (x * c).requires_grad
    assert not (c * c).requires_grad
    assert [one.is_leaf for one in (x, c, c * c, x * c)] == [True, True, True, False]
    assert ((x * c).grad_fn is None, (c * c).grad_fn is None) == (False, True)


def test_a_result_cannot_stop_requiring_its_gradient() -> None:
    x = tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="detach"):
        (x * 2).requires_grad = False
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_detach_cuts_the_past_off() -> None:
    x = tensor(3.0, requires_grad=True)
    y = x * x
    (y.detach() * x).backward()
    assert gradient_of(x) == 9
    assert y.detach().data is y.data


def test_a_copy_is_taken_by_tensor_and_not_by_Tensor() -> None:
    array = np.ones(2)
    copied, shared = tensor(array), Tensor(array)
    array[0] = 5
    assert (copied.data.tolist(), shared.data.tolist()) == ([1, 1], [5, 1])


def test_numbers_take_the_dtype_of_the_tensor_they_meet() -> None:
    narrow = tensor([1.0], np.float32)
    for result in (narrow * 2.0, 2 + narrow, narrow - 1, 1 / narrow, narrow**2, tape.maximum(narrow, 0.0)):
        assert result.dtype == np.float32
    assert (tensor([1]) * 0.5).data.tolist() == [0.5]
    assert (narrow * np.ones(1)).dtype == np.float64


def test_an_array_on_the_left_is_a_constant() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    product = np.array([3.0, 4.0]) * x
    assert isinstance(product, Tensor)
    product.sum().backward()
    assert gradient_of(x) == [3, 4]


def test_a_leaf_that_was_not_reached_has_no_gradient() -> None:
    used, unused = tensor(1.0, requires_grad=True), tensor(1.0, requires_grad=True)
    (used * 2).backward()
    assert gradient_of(used) == 2
    assert unused.grad is None


def test_a_leaf_that_was_reached_has_a_gradient_also_if_it_is_zero() -> None:
    x = tensor([-1.0, 2.0], requires_grad=True)
    (tape.relu(x) * 0).sum().backward()
    assert gradient_of(x) == [0, 0]
    y = tensor([1.0, 2.0], requires_grad=True)
    y[0].backward()
    assert gradient_of(y) == [1, 0]


def test_gradients_add_up_over_passes_until_they_are_forgotten() -> None:
    x = tensor(2.0, requires_grad=True)
    (x * x).backward()
    seen = x.grad
    (x * 3).backward()
    assert gradient_of(x) == 7
    assert seen is not None
    assert seen.item() == 4
    x.grad = None
    (x * 3).backward()
    assert gradient_of(x) == 3


def test_leaves_do_not_share_the_memory_of_their_gradients() -> None:
    a, b = tensor([1.0], requires_grad=True), tensor([1.0], requires_grad=True)
    seed = tensor([1.0])
    (a + b).backward(seed)
    assert a.grad is not None
    a.grad.data[0] = 5
    assert (gradient_of(b), seed.data.tolist()) == ([1], [1])


def test_one_backward_of_several_tensors_is_one_pass() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    seen: list[Any] = []
    x.register_hook(lambda gradient: seen.append(gradient.data.tolist()))
    y = x * x
    tape.backward([y.sum(), y, y], [None, tensor([10.0, 10.0]), tensor([100.0, 0.0])])
    assert seen == [[222, 44]]
    assert gradient_of(x) == [222, 44]


def test_what_cannot_be_a_root_is_refused() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        tensor(1.0).backward()
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match=r"shape \(1,\) for a tensor of shape \(2,\)"):
        (x * 2).backward(tensor([1.0]))
    tensor([[1.0]], requires_grad=True).backward()


def test_hooks_see_the_whole_gradient_in_the_order_they_came() -> None:
    x = tensor(2.0, requires_grad=True)
    y = x * 1.0
    seen: list[tuple[str, float]] = []
    y.register_hook(lambda gradient: seen.append(("first", gradient.item())))
    y.register_hook(lambda gradient: gradient * 10)
    y.register_hook(lambda gradient: seen.append(("third", gradient.item())))
    x.register_hook(lambda gradient: seen.append(("leaf", gradient.item())))
    (y * 3 + y * 4).backward()
    assert seen == [("first", 7), ("third", 70), ("leaf", 70)]
    assert gradient_of(x) == 70


def test_hooks_of_a_leaf_outlive_its_graphs() -> None:
    x = tensor(2.0, requires_grad=True)
    handle = x.register_hook(lambda gradient: gradient + 1)
    (x * 3).backward()
    (x * 3).backward()
    assert gradient_of(x) == 8
    handle.remove()
    handle.remove()
    (x * 3).backward()
    assert gradient_of(x) == 11


def test_a_hook_may_be_registered_while_a_graph_of_the_leaf_lives() -> None:
    x = tensor(2.0, requires_grad=True)
    y = x * 3
    x.register_hook(lambda gradient: gradient * 2)
    y.backward()
    (x * 3).backward()
    assert gradient_of(x) == 12


def test_hooks_of_received_tensors_are_for_their_own_gradient() -> None:
    _, (a, b) = tape.receive([np.array(1.0), np.array(2.0)])
    b.register_hook(lambda gradient: gradient * 100)
    root = tape.root_of([a + b])
    walk = tape.Walk([root])
    walk.arrive(root, [np.array(1.0)])
    (delivery,) = walk.run()
    assert np.asarray(delivery.gradients).tolist() == [1, 100]


def test_hooks_compute_without_recording() -> None:
    x = tensor(2.0, requires_grad=True)
    recorded: list[bool] = []
    x.register_hook(lambda gradient: recorded.append((gradient * x).requires_grad))
    (x * 3).backward()
    assert recorded == [False]


def test_a_tensor_without_gradient_takes_no_hook() -> None:
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        tensor(1.0).register_hook(lambda gradient: None)


def test_nothing_is_recorded_under_no_grad() -> None:
    x = tensor(1.0, requires_grad=True)
    with no_grad():
        assert not is_grad_enabled()
        assert not (x * 2).requires_grad
        with set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not is_grad_enabled()
    assert (x * 2).requires_grad


def test_no_grad_ends_with_an_error_and_serves_as_a_decorator() -> None:
    @no_grad()
    def count_down(steps: int) -> bool:
        if steps:
            return count_down(steps - 1)
        raise KeyError

    with pytest.raises(KeyError):
        count_down(3)
    assert is_grad_enabled()


def test_no_grad_is_for_one_thread() -> None:
    seen: list[bool] = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_tensor_can_be_printed_counted_and_iterated() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    assert repr(tensor([1.0])) == "Tensor([1.])"
    assert repr(x) == "Tensor([1. 2.], requires_grad=True)"
    assert repr(x * 2) == "Tensor([2. 4.], grad_fn=<Operation mul>)"
    assert [row.item() for row in x] == [1, 2]
    assert (len(x), bool(tensor(0.0)), x.ndim, x.shape) == (2, False, 1, (2,))
