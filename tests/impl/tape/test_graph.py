"""The graph: each node once, however deep, for as long as somebody holds it, and what it saves for how long."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from farref.impl import tape
from farref.impl.tape import Accumulate, BackwardError, Rule, Tensor, apply, tensor
from farref.impl.tape.rules import inputs

CHAIN = 100_000
STACK_BYTES = 2**18 if sys.version_info < (3, 12) else 2**21  # newer ones free up to 10,000 objects within each other


def gradient_of(leaf: Tensor) -> Any:
    assert leaf.grad is not None
    return leaf.grad.data.tolist()


def test_a_diamond_is_walked_once() -> None:
    runs = []

    def counted(g: Any, x: Any) -> Any:
        runs.append(1)
        return 2 * g * x

    x = tensor(3.0, requires_grad=True)
    y = apply(Rule("squared", lambda x: x * x, inputs, (counted,)), x)
    (y * 2 + y * 5).backward()
    assert gradient_of(x) == 42
    assert len(runs) == 1


def test_a_tower_of_diamonds_takes_a_step_for_each_node() -> None:
    x = tensor(1.0, requires_grad=True)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert gradient_of(x) == 2.0**60


def test_a_long_chain_is_walked_and_collected() -> None:
    """In a thread with a small stack, where a recursion as deep as the chain would end the process."""
    outcome: list[Any] = []

    def work() -> None:
        x = tensor(1.0, requires_grad=True)
        y = x
        for _ in range(CHAIN):
            y = y + 1.0
        assert y.grad_fn is not None
        last = weakref.ref(y.grad_fn)
        y.backward()
        del y
        outcome.extend([gradient_of(x), last()])

    before = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcome == [1.0, None]


def test_a_graph_needs_no_collector_of_cycles() -> None:
    gc.disable()
    try:
        x = tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda gradient: None)
        loss = tape.mse_loss(tape.tanh(x) * 3, tensor([0.0, 0.0]))
        loss.backward()
        leaf, node = weakref.ref(x), weakref.ref(loss.grad_fn or x)
        del x, loss
        assert (leaf(), node()) == (None, None)
    finally:
        gc.enable()


def test_threads_that_use_a_leaf_at_the_same_time_share_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both threads are held where the node is made; if both get there, each would have one of its own."""
    meeting = threading.Barrier(2)

    def slowly(leaf: Tensor) -> Accumulate:
        with contextlib.suppress(threading.BrokenBarrierError):
            meeting.wait(0.2)
        return Accumulate(leaf)

    monkeypatch.setattr("farref.impl.tape.tensors.Accumulate", slowly)
    x = tensor(1.0, requires_grad=True)
    results: list[Tensor] = []
    threads = [threading.Thread(target=lambda: results.append(x * 2)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends = tape.ends_of([tape.root_of(results)])
    assert len(ends) == 1


def test_a_graph_keeps_its_leaf() -> None:
    x = tensor(2.0, requires_grad=True)
    leaf = weakref.ref(x)
    y = x * x
    del x
    found = tape.gradients([y])
    assert [(one is leaf(), gradient.tolist()) for one, gradient in found.items()] == [(True, 4.0)]


def test_a_second_pass_over_a_freed_graph_is_refused() -> None:
    x = tensor(3.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(BackwardError, match=r"a second time: what mul saved .* retain_graph=True"):
        y.backward()
    assert gradient_of(x) == 6


def test_a_retained_graph_can_be_walked_again() -> None:
    x = tensor(3.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert gradient_of(x) == 12


def test_a_graph_that_saved_no_values_can_always_be_walked_again() -> None:
    x = tensor([3.0, 4.0], requires_grad=True)
    y = (x + 1 - x - x).reshape(2, 1).sum()
    y.backward()
    y.backward()
    assert gradient_of(x) == [-2, -2]


def test_saved_values_are_given_up() -> None:
    class Watched(np.ndarray[Any, Any]):
        """An array that can be watched."""

    x = tensor([1.0], requires_grad=True)
    for retain, alive in ((True, True), (False, False)):
        constant = np.ones(1).view(Watched)
        watch = weakref.ref(constant)
        y = apply(Rule("watched", lambda a, b: np.asarray(a * b), inputs, (lambda g, a, b: g * b,)), x, _of(constant))
        del constant
        y.backward(tape.Tensor([1.0]), retain_graph=retain)
        assert (watch() is not None) == alive


def _of(array: Any) -> Tensor:
    made = Tensor(0.0)
    made.data = array
    return made
