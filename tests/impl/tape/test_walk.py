"""The walk: what takes part, when a node is ready, in which order is added, what is delivered, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farref.impl import tape
from farref.impl.tape import Accumulate, BackwardError, Receive, Root, Rule, Tensor, Walk, apply, root_of, tensor
from farref.impl.tape.rules import nothing


def test_gradients_go_where_the_caller_says() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    found = tape.gradients([(x * x).sum()])
    assert {leaf: gradient.tolist() for leaf, gradient in found.items()} == {x: [2, 4]}
    assert x.grad is None


def sent_and_used() -> tuple[Tensor, Root, Root]:
    """A parameter that went away twice; the loss is elsewhere."""
    x = tensor([1.0, 2.0], requires_grad=True)
    return x, root_of([x * 3]), root_of([x * 5, x])


def test_a_walk_rests_until_the_gradients_are_there() -> None:
    x, first, second = sent_and_used()
    walk = Walk([first, second])
    assert (walk.ready, list(walk.waiting), walk.run(), walk.done) == ((), [first, second], [], False)
    walk.arrive(second, [np.array([1.0, 1.0]), np.array([10.0, 10.0])])
    assert len(walk.ready) == 1
    assert (walk.run(), list(walk.waiting), walk.done) == ([], [first], False)
    walk.arrive(first, [np.array([100.0, 0.0])])
    assert walk.step() is None
    delivery = walk.step()
    assert delivery is not None
    assert isinstance(delivery.node, Accumulate)
    assert delivery.node.tensor is x
    assert [one.tolist() for one in delivery.gradients if one is not None] == [[315, 15]]
    assert (walk.done, list(walk.waiting), x.grad) == (True, [], None)


def test_what_the_roots_do_not_reach_takes_no_part() -> None:
    _x, first, _ = sent_and_used()
    walk = Walk([first])
    walk.arrive(first, [np.array([1.0, 1.0])])
    (delivery,) = walk.run()
    assert [one.tolist() for one in delivery.gradients if one is not None] == [[3, 3]]
    assert walk.done


def test_a_received_tensor_hands_its_gradient_on() -> None:
    node, (a, b) = tape.receive([np.array([1.0, 2.0]), np.array(3.0)])
    assert (a.is_leaf, a.requires_grad, a.grad_fn) == (False, True, node)
    root = root_of([(a * b).sum()])
    walk = Walk([root])
    walk.arrive(root, [np.array(1.0)])
    (delivery,) = walk.run()
    assert isinstance(delivery.node, Receive)
    assert delivery.node is node
    assert [one.tolist() for one in delivery.gradients if one is not None] == [[3, 3], 3]
    assert (a.grad, b.grad) == (None, None)


def test_the_ends_of_lines_are_known_before_a_walk() -> None:
    node, (a,) = tape.receive([np.array(1.0)])
    other, (b,) = tape.receive([np.array(1.0)])
    x = tensor(2.0, requires_grad=True)
    ends = tape.ends_of([root_of([a * x + a]), root_of([x * 2])])
    assert set(ends) == {node, x.gradient_edge and x.gradient_edge.node}
    assert len(ends) == 2
    assert tape.ends_of([root_of([b])]) == [other]


def test_an_unused_received_tensor_has_no_gradient() -> None:
    _, (a, _) = tape.receive([np.array(1.0), np.array(3.0)])
    root = root_of([a * 2])
    walk = Walk([root])
    walk.arrive(root, [np.array(1.0)])
    (delivery,) = walk.run()
    assert delivery.gradients[1] is None
    assert delivery.gradients[0] == 2


def test_a_missing_gradient_stays_missing() -> None:
    """Nodes still run, as others wait for them; a leaf gets nothing, a sender is told that there is nothing."""
    node, (a,) = tape.receive([np.array(1.0)])
    x, y = tensor(2.0, requires_grad=True), tensor(5.0, requires_grad=True)
    root = root_of([a * x, y * 1.0])
    walk = Walk([root])
    walk.arrive(root, [None, np.array(7.0)])
    deliveries = {delivery.node: delivery.gradients for delivery in walk.run()}
    assert walk.done
    assert deliveries.pop(node) == (None,)
    assert [np.asarray(one).tolist() for one in deliveries.values()] == [[7.0]]


def test_a_missing_gradient_is_not_shown_to_hooks() -> None:
    x = tensor(2.0, requires_grad=True)
    x.register_hook(lambda gradient: gradient + 1)
    root = root_of([x])
    walk = Walk([root])
    walk.arrive(root, [None])
    assert walk.run() == []
    assert walk.done


def test_what_arrives_takes_the_dtype_of_its_tensor() -> None:
    x = tensor([2.0], np.float32, requires_grad=True)
    root = root_of([x])
    walk = Walk([root])
    walk.arrive(root, [np.array([0.1])])
    (delivery,) = walk.run()
    assert delivery.gradients[0] is not None
    assert delivery.gradients[0].dtype == np.float32


def test_a_pass_in_one_process_refuses_a_graph_of_several() -> None:
    _, (a,) = tape.receive([np.array(1.0)])
    with pytest.raises(RuntimeError, match="leads to another process"):
        (a * 2).backward()


@given(
    seed=st.integers(0, 2**32 - 1),
    order=st.permutations(range(8)),
    pauses=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_the_order_of_arrival_changes_no_bit(seed: int, order: list[int], pauses: list[bool]) -> None:
    """Eight tensors were sent, all of them from one parameter, and sums of such different sizes depend on their order."""

    def result(order: list[int], pauses: list[bool]) -> bytes:
        random = np.random.default_rng(seed)
        x = tensor(random.normal(size=4), requires_grad=True)
        shared = tape.tanh(x)
        roots = [root_of([shared * random.normal(size=4), x * 10.0 ** random.integers(-9, 9)]) for _ in range(8)]
        gradients = [[random.normal(size=4), random.normal(size=4)] for _ in range(8)]
        walk = Walk(roots)
        deliveries = []
        for number, pause in zip(order, pauses, strict=True):
            walk.arrive(roots[number], gradients[number])
            deliveries += [] if pause else walk.run()
        deliveries += walk.run()
        (delivery,) = deliveries
        assert delivery.gradients[0] is not None
        return delivery.gradients[0].tobytes()

    assert result(order, pauses) == result(list(range(8)), [True] * 8)


def broken(change: Callable[[Any], Any]) -> Tensor:
    rule = Rule("broken", lambda x: x * 1.0, nothing, (change,))
    return apply(rule, tensor([1.0, 2.0], requires_grad=True)).sum()


def test_an_error_in_a_rule_names_the_operation() -> None:
    def fail(_g: Any) -> Any:
        raise ZeroDivisionError("cannot do that")

    with pytest.raises(BackwardError, match="broken, going backward: cannot do that"):
        broken(fail).backward()


@pytest.mark.parametrize("shape", [(3,), (3, 1), (), (1,), (1, 1)])
def test_a_gradient_of_a_wrong_shape_is_noticed(shape: tuple[int, ...]) -> None:
    with pytest.raises(BackwardError, match="broken, going backward: a gradient of shape"):
        broken(lambda g: np.ones(shape)).backward()


def test_a_failed_pass_changes_no_gradient() -> None:
    x = tensor(1.0, requires_grad=True)
    y = tensor(2.0, requires_grad=True)
    y.register_hook(lambda gradient: tensor([1.0, 2.0, 3.0]))
    with pytest.raises(BackwardError, match=r"a gradient of shape \(3,\)"):
        (x + y).backward()
    assert (x.grad, y.grad) == (None, None)


def test_what_arrives_is_checked() -> None:
    x, first, second = sent_and_used()
    walk = Walk([second])
    with pytest.raises(BackwardError, match="takes no part"):
        walk.arrive(first, [np.array([1.0, 1.0])])
    with pytest.raises(BackwardError, match="1 gradients came for 2 tensors"):
        walk.arrive(second, [np.array([1.0, 1.0])])
    with pytest.raises(BackwardError, match=r"shape \(\) for a tensor of shape \(2,\)"):
        walk.arrive(second, [np.array([1.0, 1.0]), np.array(1.0)])
    with pytest.raises(BackwardError, match="nothing is ready"):
        walk.step()
    assert list(walk.waiting) == [second]
    walk.arrive(second, [np.array([1.0, 1.0]), None])
    with pytest.raises(BackwardError, match="here already"):
        walk.arrive(second, [np.array([1.0, 1.0]), None])
    assert x.grad is None


def test_a_pass_goes_to_another_worker_and_comes_back() -> None:
    """One worker sends a tensor, another multiplies it by its weight and sends the product back; both walks meet halfway."""

    def far(v: Tensor, w: Tensor) -> Tensor:
        return tape.relu(v @ w)

    def near(x: Tensor, u: Tensor) -> Tensor:
        return (u * u).sum() + (x * 3).sum()

    arrays = np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([[2.0, 1.0], [-1.0, 5.0]])
    x, w = (tensor(array, requires_grad=True) for array in arrays)
    expected = tape.gradients([near(x, far(x * 2, w))])

    sent = x * 2  # on the near worker
    sent_away = root_of([sent])
    far_end, (v,) = tape.receive([sent.data])  # on the far one
    answer = far(v, w)
    sent_back = root_of([answer])
    near_end, (u,) = tape.receive([answer.data])  # on the near one again
    loss = root_of([near(x, u)])

    near_walk, far_walk = Walk([loss, sent_away]), Walk([sent_back])
    near_walk.arrive(loss, [np.array(1.0)])
    (to_the_far_worker,) = near_walk.run()
    assert (to_the_far_worker.node, near_walk.done) == (near_end, False)
    far_walk.arrive(sent_back, to_the_far_worker.gradients)
    deliveries = {delivery.node: delivery.gradients for delivery in far_walk.run()}
    near_walk.arrive(sent_away, deliveries.pop(far_end))
    deliveries |= {delivery.node: delivery.gradients for delivery in near_walk.run()}

    assert (near_walk.done, far_walk.done) == (True, True)
    found = {node.tensor: gradients[0] for node, gradients in deliveries.items() if isinstance(node, Accumulate)}
    assert found.keys() == expected.keys() == {x, w}
    assert all(np.array_equal(np.asarray(found[leaf]), gradient) for leaf, gradient in expected.items())
