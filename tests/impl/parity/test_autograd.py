"""What PyTorch's tests say of distributed autograd, said of ours (spec/parity.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from farref.impl import Cluster, RRef, get_debug_info, get_worker_info, launch, remote, rpc_async, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.core.autograd.ids import ContextId
from farref.impl.errors import ContextReleased, PassReleased, RuleRaised
from farref.impl.tape import Tensor, gradients, tensor
from tests.impl.far import autograd as far
from tests.impl.settling import eventually

NAMES = ("driver", "B", "C")
Call = Callable[..., Tensor]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[Cluster]:
    with launch(["B", "C"], allow=[far.__name__], rpc_timeout=30) as world:
        for number, name in enumerate(NAMES):
            rpc_sync(name, far.parameter, ["w", [float(number), 2.0]])
        yield world


@pytest.fixture(autouse=True)
def everything_is_forgotten() -> Iterator[None]:
    yield
    eventually(lambda: sum(rpc_sync(name, far.left_over) for name in NAMES) == 0)


@pytest.fixture(params=["sync", "async", "remote"])
def call(request: pytest.FixtureRequest) -> Call:
    """The three ways to call a function."""
    ways: dict[str, Call] = {
        "sync": rpc_sync,
        "async": lambda *given: rpc_async(*given).wait(),
        "remote": lambda *given: remote(*given).to_here(),
    }
    return ways[request.param]


def recorded(name: str, context_id: ContextId) -> tuple[int, int]:
    """How many sends and recvs a worker has recorded."""
    with far.no_context():
        return tuple(rpc_sync(name, far.recorded, [context_id]))


def pair() -> tuple[Tensor, Tensor]:
    random = np.random.default_rng(3)
    return tuple(tensor(random.normal(size=(3, 3)), requires_grad=True) for _ in range(2))  # type: ignore[return-value]


# Contexts, and what is recorded in them


def test_contexts_carry_their_creator_and_end_with_their_block() -> None:
    seen = set()
    for _ in range(200):
        with context() as context_id:
            assert context_id.created_on == get_worker_info().id
            assert get_gradients(context_id) == {}
            seen.add(context_id)
        with pytest.raises(ContextReleased):
            get_gradients(context_id)
    assert len(seen) == 200


def test_what_a_call_records_on_both_sides(call: Call) -> None:
    a, b = pair()
    with context() as context_id:
        result = call("B", far.added, [a, b])
        assert recorded("driver", context_id) == (1, 1)
        assert recorded("B", context_id) == (1, 1)
        assert result.grad_fn is not None
        assert not result.is_leaf


def test_what_nested_calls_record() -> None:
    a, _ = pair()
    with context() as context_id:
        rpc_sync("B", far.through, [["C"], a])
        assert [recorded(name, context_id) for name in NAMES] == [(1, 1), (2, 2), (1, 1)]
        rpc_sync("B", far.through, [["driver"], a])
        assert [recorded(name, context_id) for name in NAMES] == [(3, 3), (4, 4), (1, 1)]


def test_without_gradients_the_context_travels_and_nothing_is_recorded(call: Call) -> None:
    with context() as context_id:
        call("B", far.through, [["C"], tensor(1.0)])
        assert [recorded(name, context_id) for name in NAMES] == [(0, 0)] * 3
        call("B", far.nothing)


def test_a_parameter_of_the_callee_gets_its_gradient(call: Call) -> None:
    with context() as context_id:
        backward(context_id, [call("B", far.scaled, ["w", 3.0]).sum()])
        assert rpc_sync("B", far.gradient, [context_id, "w"]).tolist() == [3.0, 3.0]
        assert get_gradients(context_id) == {}


def test_of_many_tensors_those_that_need_a_gradient_are_recorded(call: Call) -> None:
    many = [tensor(float(number), requires_grad=number % 2 == 0) for number in range(10)]
    with context() as context_id:
        backward(context_id, [call("B", far.total, [many])])
        assert {leaf.item(): gradient.item() for leaf, gradient in get_gradients(context_id).items()} == {
            float(number): 1.0 for number in range(0, 10, 2)
        }


@pytest.mark.parametrize("argument", [tensor(1.0, requires_grad=True), tensor(1.0), 1.0])
def test_contexts_disappear_from_all_who_heard_of_them(argument: object) -> None:
    with context():
        rpc_sync("B", far.pass_on, ["C", argument])
        assert [rpc_sync(name, far.contexts) for name in NAMES] == [1, 1, 1]
    eventually(lambda: [rpc_sync(name, far.contexts) for name in NAMES] == [0, 0, 0])


# Gradients


def test_gradients_equal_those_of_one_process(call: Call) -> None:
    a, b = pair()
    near = gradients([far.mixed(far.mixed(far.mixed(a, b), b), a).sum()])
    for path in (["B", "C", "B"], ["driver", "driver", "B"], ["driver"] * 3):
        with context() as context_id:
            first = call(path[0], far.mixed, [a, b])
            second = call(path[1], far.mixed, [first, b])
            backward(context_id, [call(path[2], far.mixed, [second, a]).sum()])
            for leaf, gradient in get_gradients(context_id).items():
                np.testing.assert_allclose(gradient.data, near[leaf], rtol=1e-12)
            assert set(get_gradients(context_id)) == {a, b}


def test_shapes_that_are_not_square_and_two_dtypes() -> None:
    a, b = tensor(np.ones((2, 5)), requires_grad=True), tensor(np.ones((5, 3), np.float32), requires_grad=True)
    with context() as context_id:
        backward(context_id, [rpc_sync("B", far.product, [a, b]).sum()])
        found = get_gradients(context_id)
        assert (found[a].shape, found[a].dtype) == ((2, 5), np.float64)
        assert (found[b].shape, found[b].dtype) == ((5, 3), np.float32)


@pytest.mark.parametrize("user", ["B", "C", "driver"])
def test_a_reference_as_an_argument_to_its_owner_and_to_others(user: str) -> None:
    held = remote("B", far.parameter_rref, [[1.0, 2.0]])
    x = tensor([3.0, 4.0], requires_grad=True)
    with context() as context_id:
        backward(context_id, [rpc_sync(user, far.times_value, [held, x]).sum()])
        assert get_gradients(context_id)[x].data.tolist() == [1.0, 2.0]
        assert rpc_sync("B", far.gradient_of_rref, [context_id, held]).tolist() == [3.0, 4.0]


def test_trainers_have_gradients_of_their_own() -> None:
    held = RRef(tensor([1.0, 1.0], requires_grad=True))
    futures = [rpc_async(name, far.train, [held, float(number)]) for number, name in enumerate(["B", "C", "driver"], 1)]
    assert [future.wait() for future in futures] == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    assert held.local_value().grad is None


def test_a_graph_without_calls_and_several_roots() -> None:
    a, b = pair()
    with context() as context_id:
        backward(context_id, [(a @ b).sum()])
        near = gradients([(a @ b).sum()])
        assert all(np.array_equal(get_gradients(context_id)[leaf].data, near[leaf]) for leaf in (a, b))
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        backward(context_id, [rpc_sync(name, far.double, [x]) for name in ("B", "C", "B", "driver")])
        assert get_gradients(context_id)[x].item() == 8.0


def test_grad_attributes_are_left_alone_and_gradients_are_copies() -> None:
    x = tensor(2.0, requires_grad=True)
    (x * 5.0).backward()
    with context() as context_id:
        backward(context_id, [rpc_sync("B", far.double, [x])], retain_graph=True)
        get_gradients(context_id)[x].data[...] = 77.0
        before = get_gradients(context_id)[x]
        backward(context_id, [rpc_sync("B", far.double, [x])])
        assert (before.item(), get_gradients(context_id)[x].item()) == (2.0, 4.0)
    assert x.grad is not None
    assert x.grad.item() == 5.0


def test_hooks_see_each_gradient_once_in_a_pass_and_may_change_it() -> None:
    x, calls = tensor(2.0, requires_grad=True), []

    def hook(gradient: Tensor) -> Tensor:
        calls.append(gradient.item())
        return gradient * 2.0

    x.register_hook(hook)
    with context() as context_id:
        loss = rpc_sync("B", far.double, [x]) + rpc_sync("C", far.double, [x])
        backward(context_id, [loss], retain_graph=True)
        backward(context_id, [loss])
        assert calls == [4.0, 4.0]
        assert get_gradients(context_id)[x].item() == 16.0


# Many passes, and trouble


def test_many_passes_in_one_context_add_up() -> None:
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        loss = rpc_sync("B", far.through, [["C"], x])
        for _ in range(300):
            backward(context_id, [loss], retain_graph=True)
        assert get_gradients(context_id)[x].item() == 1200.0


def test_many_passes_that_fail_and_then_many_that_do_not() -> None:
    x = tensor(2.0, requires_grad=True)
    with context() as context_id:
        loss = rpc_sync("B", far.fails_at_first, [x, 50])
        for _ in range(50):
            with pytest.raises(RuleRaised, match="on B"):
                backward(context_id, [loss], retain_graph=True)
        assert get_gradients(context_id) == {}
        for _ in range(49):
            backward(context_id, [loss], retain_graph=True)
        assert get_gradients(context_id)[x].item() == 49.0


def test_many_passes_at_once_against_one_worker() -> None:
    futures = [rpc_async("driver", far.own_pass_through, ["B", float(number)]) for number in range(60)]
    assert [future.wait() for future in futures] == [4.0] * 60


def test_a_release_in_the_middle_of_a_pass_ends_it_for_all() -> None:
    x, errors = tensor(2.0, requires_grad=True), []

    def run(context_id: ContextId, loss: Tensor) -> None:
        try:
            backward(context_id, [loss])
        except PassReleased as error:
            errors.append(error)

    with context() as context_id:
        loss = rpc_sync("B", far.slow_rule, [x, 0.5]) * 1.0
        thread = threading.Thread(target=run, args=[context_id, loss])
        thread.start()
        time.sleep(0.2)
    thread.join()
    assert len(errors) == 1
    eventually(lambda: sum(rpc_sync(name, far.tasks) for name in NAMES) == 0)


def test_debug_info_shows_contexts_and_passes() -> None:
    x = tensor(2.0, requires_grad=True)
    assert get_debug_info().contexts == ()
    with context() as context_id:
        loss = rpc_sync("B", far.watched, [x])
        backward(context_id, [loss])
        (view,) = get_debug_info().contexts
        assert (view.context, view.is_open, view.sends, view.recvs, view.task) == (context_id, True, 1, 1, None)
        assert get_debug_info().passes == ()
        assert rpc_sync("B", far.passes_seen) == [1]
