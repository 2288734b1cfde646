"""Distributed autograd between real processes: what is recorded, and what goes wrong with a name (A4 to A10, A18 to A24)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from farref.impl import Cluster, RRef, launch, remote, rpc_async, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.errors import (
    ContextReleased,
    PassBusy,
    PassRefused,
    PassTimeout,
    RefusedCall,
    RuleRaised,
)
from farref.impl.tape import Tensor, no_grad, tensor
from tests.impl.far import autograd as far
from tests.impl.settling import eventually

NAMES = ("driver", "B", "C")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with launch(["B", "C"], allow=[far.__name__], rpc_timeout=20) as world:
        rpc_sync("B", far.parameter, ["w", 3.0])
        rpc_sync("C", far.parameter, ["w", 7.0])
        yield world


@pytest.fixture(autouse=True)
def everything_is_forgotten() -> Iterator[None]:
    yield
    eventually(lambda: sum(rpc_sync(name, far.left_over) for name in NAMES) == 0)


@pytest.fixture
def x() -> Tensor:
    return tensor(2.0, requires_grad=True)


def gradient_of(leaf: Tensor, loss: Tensor, context_id: object) -> float:
    backward(context_id, [loss])  # type: ignore[arg-type]
    return get_gradients(context_id)[leaf].item()  # type: ignore[no-any-return, arg-type]


# What is recorded


def test_A8_calls_futures_references_and_calls_to_oneself(x: Tensor) -> None:
    with context() as context_id:
        loss = rpc_sync("B", far.double, [x]) + rpc_async("C", far.double, [x]).wait()
        loss += remote("B", far.double, [x]).to_here() + rpc_sync("driver", far.double, [x])
        loss += remote("driver", far.double, [x]).to_here() + rpc_sync("B", far.later, [x])
        assert gradient_of(x, loss, context_id) == 12.0


def test_A4_nested_calls_use_the_context_of_the_call(x: Tensor) -> None:
    with context() as context_id:
        loss = rpc_sync("B", far.through, [["C", "B", "driver", "C"], x]) + rpc_sync("B", far.kept_remotely, ["C", x])
        assert gradient_of(x, loss, context_id) == 34.0


def test_A7_A22_several_tensors_some_of_which_need_a_gradient(x: Tensor) -> None:
    other = tensor(5.0)
    with context() as context_id:
        first, second = rpc_sync("B", far.both, [(x, {"x": other})])
        assert first.requires_grad
        assert not second.requires_grad
        assert gradient_of(x, first + second, context_id) == 2.0
    y = tensor(1.0, requires_grad=True)
    with context() as context_id:
        first, second = rpc_sync("B", far.both, [(x, {"x": y})])
        backward(context_id, [first * 1.0])
        assert list(get_gradients(context_id)) == [x]


@pytest.mark.parametrize(("mode", "unused_calls"), [("fast", 0), ("smart", 0), ("smart", 1)])
def test_A22_what_was_sent_along_and_not_used_is_not_waited_for(x: Tensor, mode: str, unused_calls: int) -> None:
    """C's parameter has two results, and one of them goes to B for nothing. An unused call lets SMART mark its send."""
    with context() as context_id:
        for _ in range(unused_calls):
            rpc_sync("B", far.double, [x])
        for_nothing, used = rpc_sync("C", far.scaled, ["w", 2.0]), rpc_sync("C", far.scaled, ["w", 5.0])
        doubled, _ = rpc_sync("B", far.both, [(x, {"x": for_nothing})])
        backward(context_id, [doubled * used], mode=mode)
        assert rpc_sync("C", far.gradient, [context_id, "w"]) == 20.0


def test_A8_the_same_tensor_twice_is_two_inputs(x: Tensor) -> None:
    with context() as context_id:
        first, second = rpc_sync("B", far.both, [(x, {"x": x})])
        assert gradient_of(x, first + second, context_id) == 5.0


def test_A7_the_sender_decides(x: Tensor) -> None:
    with context() as context_id:
        with no_grad():
            assert not rpc_sync("B", far.needs_gradient, [x])
            kept = remote("B", far.times, ["w", x])
        loss = kept.to_here() + rpc_sync("B", far.without_recording, ["C", x])
        backward(context_id, [loss])
        assert get_gradients(context_id) == {}
        assert rpc_sync("B", far.gradient, [context_id, "w"]) == 2.0


def test_A7_a_parameter_is_a_tensor_like_any_other() -> None:
    held = remote("B", far.parameter_rref, [4.0])
    with context() as context_id:
        backward(context_id, [held.to_here() * 3.0])
        assert rpc_sync("B", far.gradient_of_rref, [context_id, held]) == 3.0


def test_A28_what_follows_a_call_inherits_its_context(x: Tensor) -> None:
    with context() as context_id:
        following = rpc_async("B", far.double, [x]).then(lambda done: rpc_sync("C", far.double, [done.value()]))
        assert gradient_of(x, following.wait(), context_id) == 4.0


def test_an_interrupt_in_a_hook_is_an_interrupt(x: Tensor) -> None:
    interrupts = [KeyboardInterrupt]

    def hook(_gradient: Tensor) -> None:
        if interrupts:
            raise interrupts.pop()

    with context() as context_id:
        y = x * 1.0
        y.register_hook(hook)
        loss = rpc_sync("B", far.double, [x]) * y
        with pytest.raises(KeyboardInterrupt):
            backward(context_id, [loss], retain_graph=True)
        assert get_gradients(context_id) == {}
        assert gradient_of(x, loss, context_id) == 8.0


def test_outside_of_contexts_nothing_is_recorded(x: Tensor) -> None:
    assert rpc_sync("B", far.needs_gradient, [x])
    assert rpc_sync("B", far.double, [x]).is_leaf
    assert sum(rpc_sync(name, far.contexts) for name in NAMES) == 0


def test_large_tensors_travel_both_ways() -> None:
    x = tensor(np.arange(50_000.0), requires_grad=True)
    with context() as context_id:
        backward(context_id, [(rpc_sync("B", far.double, [x]) * 3.0).sum()])
        np.testing.assert_array_equal(get_gradients(context_id)[x].data, np.full(50_000, 6.0))


def test_any_number_of_contexts_at_once() -> None:
    wrong: list[object] = []

    def program(number: float) -> None:
        mine = tensor(number, requires_grad=True)
        for _ in range(5):
            with context() as context_id:
                found = gradient_of(mine, rpc_sync("B", far.times, ["w", mine]) * mine, context_id)
                wrong.extend([found] if found != 6.0 * number else [])

    threads = [threading.Thread(target=program, args=[float(n)]) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert rpc_sync("B", far.own_context) == 4.0


# Passes


def test_A10_any_worker_may_begin_a_pass(x: Tensor) -> None:
    with context() as context_id:
        rpc_sync("B", far.backward_there, [context_id, x])
        assert get_gradients(context_id)[x].item() == 3.0
        kept = remote("C", far.times, ["w", x])
        kept.backward(context_id)
        assert get_gradients(context_id)[x].item() == 10.0
        RRef(x * 2.0).backward(context_id)
        assert get_gradients(context_id)[x].item() == 12.0


def test_A10_what_is_refused(x: Tensor) -> None:
    with context() as context_id:
        for roots, reason in (([], "no tensors"), ([tensor(1.0)], "requires no"), ([x], "leaf")):
            with pytest.raises(PassRefused, match=reason):
                backward(context_id, roots)
        with pytest.raises(PassRefused, match="elements"):
            backward(context_id, [tensor([1.0, 2.0], requires_grad=True) * 1.0])
        with pytest.raises(TypeError, match="list"):
            backward(context_id, x * 1.0)  # type: ignore[arg-type]
        with pytest.raises(PassRefused, match="no mode"):
            backward(context_id, [x * 1.0], mode="slow")
        with pytest.raises(PassRefused, match="nest"), context():
            pass
    with pytest.raises(ContextReleased, match="not open"):
        backward(context_id, [x * 1.0])
    with pytest.raises(ContextReleased, match="not open"):
        get_gradients(context_id)


def test_A23_passes_add_up_and_what_was_freed_is_gone(x: Tensor) -> None:
    with context() as context_id:
        loss = rpc_sync("B", far.times, ["w", x])
        backward(context_id, [loss, loss], retain_graph=True)
        assert gradient_of(x, loss, context_id) == 9.0
        with pytest.raises(RuleRaised, match=r"on B.*second time"):
            backward(context_id, [loss * 1.0])
        assert get_gradients(context_id)[x].item() == 9.0
        assert gradient_of(x, rpc_sync("B", far.times, ["w", x]), context_id) == 12.0


# Failure


def test_A18_an_error_in_a_rule_names_its_worker_and_leaves_nothing(x: Tensor) -> None:
    with context() as context_id:
        good, bad = rpc_sync("B", far.times, ["w", x]), rpc_sync("C", far.failing_rule, [x])
        for _ in range(3):
            with pytest.raises(RuleRaised, match=r"(?s)failed on C: .*no gradient today"):
                backward(context_id, [good + bad], retain_graph=True)
            assert get_gradients(context_id) == {}
        assert gradient_of(x, good * 1.0, context_id) == 3.0
        assert rpc_sync("B", far.gradient, [context_id, "w"]) == 2.0


def test_A18_A20_a_timeout_names_the_late_and_the_next_pass_is_right(x: Tensor) -> None:
    with context() as context_id:
        slow = rpc_sync("C", far.slow_rule, [x, 0.6])
        loss = slow + rpc_sync("B", far.times, ["w", x])
        with pytest.raises(PassTimeout, match="no report from C"):
            backward(context_id, [loss], timeout=0.2, retain_graph=True)
        assert get_gradients(context_id) == {}
        assert gradient_of(x, loss * 2.0, context_id) == 8.0
        eventually(lambda: sum(rpc_sync(name, far.tasks) for name in NAMES) == 0)


def test_A10_two_roots_that_collide_get_an_error_or_have_their_turn(x: Tensor) -> None:
    with context() as context_id:
        slow = rpc_sync("C", far.slow_rule, [x, 0.3])
        other = rpc_async("B", far.backward_there, [context_id, slow, True])
        expected, said = 0.0, list[str]()
        for root, gradient in ((lambda: backward(context_id, [slow * 1.0], retain_graph=True), 1.0), (other.wait, 3.0)):
            try:
                root()
                expected += gradient
            except PassBusy as error:  # it began, and met the other one
                said.append(str(error))
            except PassRefused as error:  # it did not begin: the other one had come here first
                said.append(str(error))
        assert all("another pass" in one or "in a pass of" in one for one in said)
        seen = get_gradients(context_id)
        assert (seen[x].item() if x in seen else 0.0) == expected
        eventually(lambda: sum(rpc_sync(name, far.tasks) for name in NAMES) == 0)


def test_A10_a_root_that_is_in_a_pass_of_another_is_refused(x: Tensor) -> None:
    with context() as context_id:
        result = rpc_sync("C", far.gated_rule, [x])
        other = rpc_async("B", far.backward_there, [context_id, result, True])
        eventually(lambda: far.tasks() == 1)
        with pytest.raises(PassRefused, match="in a pass of"):
            backward(context_id, [result * 1.0])
        rpc_sync("C", far.open_gate)
        other.wait()
        assert get_gradients(context_id)[x].item() == 3.0


def test_A9_A24_a_call_that_outlives_its_context_is_refused(x: Tensor) -> None:
    with context():
        future = rpc_async("B", far.slowly, [x, 0.3])
    with pytest.raises((ContextReleased, RefusedCall), match=r"released|not open"):
        future.wait()
