"""A program that was written for PyTorch calls functions with PyTorch's parameters, by place and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from farref.impl import (
    Cluster,
    ReferenceRefused,
    RefusedValue,
    RpcTimeout,
    RRef,
    get_worker_info,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from farref.impl.api import current
from farref.impl.autograd import ContextReleased, DistributedOptimizer, backward, context, get_gradients
from farref.impl.tape import SGD, Tensor, tensor
from tests.impl.far import autograd as far_autograd
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far

FAR = [far.__name__, far_objects.__name__, far_autograd.__name__]
each_owner = pytest.mark.parametrize("owner", ["A", "driver"])


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=FAR, rpc_timeout=20) as cluster:
        yield cluster


# Calls


@pytest.mark.usefixtures("settled")
@each_owner
def test_arguments_may_be_none_and_a_timeout_minus_one(owner: str) -> None:
    assert rpc_sync(owner, far.name, None, None, -1) == owner
    assert rpc_async(owner, far.name, args=None, kwargs=None, timeout=-1.0).wait() == owner
    assert remote(owner, far.name, args=None, kwargs=None, timeout=-1.0).to_here(timeout=-1.0) == owner
    thing = remote(owner, far_objects.Thing, args=(1,))
    assert thing.rpc_sync(timeout=-1).get() == 1
    assert thing.rpc_async(timeout=-1).get().wait() == 1
    assert thing.remote(timeout=-1).get().to_here() == 1


@pytest.mark.usefixtures("settled")
def test_minus_one_is_the_time_of_all_calls_and_not_for_ever() -> None:
    assert [current().timeout_for(given) for given in (None, -1, -1.0, 0, 0.0, 3)] == [20, 20, 20, None, None, 3]


@pytest.mark.usefixtures("settled")
def test_0_means_for_ever_wherever_a_timeout_is_given() -> None:
    slow = rpc_async("A", far.held_back, ["value"])
    later = rpc_async("A", far.slow, [0.2, None])
    later.then(lambda _: rpc_sync("A", far.release))
    assert slow.wait(timeout=0) == "value"
    assert rpc_sync("A", far.slow, [0.1, 1], timeout=0) == 1


@pytest.mark.usefixtures("settled")
def test_a_worker_is_described_by_the_name_of_pytorchs_parameter_and_by_ours() -> None:
    assert get_worker_info(worker_name="A") == get_worker_info("A") == get_worker_info(name="A")  # type: ignore[call-arg]
    assert get_worker_info().name == "driver"
    with pytest.raises(TypeError, match="got worker_name twice"):
        get_worker_info(worker_name="A", name="A")  # type: ignore[call-arg]


# References


@pytest.mark.usefixtures("settled")
def test_a_reference_takes_a_hint_of_its_type() -> None:
    assert RRef(3, type_hint=int).to_here() == RRef(3, int).local_value() == 3


@pytest.mark.usefixtures("settled")
def test_a_wait_for_a_value_on_its_owner_has_an_end() -> None:
    slow = remote("driver", far.slow, [0.5, "value"])
    with pytest.raises(RpcTimeout):
        slow.local_value(timeout=0.05)
    assert slow.local_value() == "value"


@pytest.mark.usefixtures("settled")
@each_owner
def test_the_future_of_a_creation_is_done_when_its_value_is_there(owner: str) -> None:
    value = remote(owner, far.slow, [0.1, "value"])
    future = value._get_future()
    assert future.wait() is None
    assert value.to_here(timeout=0.5) == "value"
    assert RRef(1)._get_future().wait() is None
    with pytest.raises(ValueError, match="broken"):
        remote(owner, far_objects.Broken)._get_future().wait()


@pytest.mark.usefixtures("settled")
@each_owner
def test_the_type_of_a_value_is_found_without_fetching_it(owner: str) -> None:
    assert remote(owner, far_objects.Thing, [1])._get_type() is far_objects.Thing
    assert remote(owner, far.echo, [3])._get_type(timeout=-1, blocking=True) is int
    assert remote(owner, far.echo, [3])._get_type(blocking=False).wait() is int
    with pytest.raises(ValueError, match="broken"):
        remote(owner, far_objects.Broken)._get_type()
    with pytest.raises(RpcTimeout):
        remote(owner, far_objects.Thing, [1, 0.5])._get_type(timeout=0.05)


@pytest.mark.usefixtures("settled")
def test_a_type_that_is_not_known_here_is_named_and_not_imported() -> None:
    with pytest.raises(RefusedValue, match=r"<locals>.Hidden, which has not been imported here"):
        remote("A", far_objects.hidden)._get_type()


# Autograd


def a_loss() -> tuple[Tensor, Tensor]:
    parameter = tensor([1.0, 2.0], requires_grad=True)
    return parameter, (parameter * parameter).sum()


@pytest.mark.usefixtures("settled")
def test_a_pass_without_a_context_stays_with_the_owner() -> None:
    parameter, loss = a_loss()
    RRef(loss).backward(retain_graph=True)
    RRef(loss).backward(dist_autograd_ctx_id=-1)
    assert parameter.grad is not None
    assert parameter.grad.data.tolist() == [4.0, 8.0]
    with pytest.raises(ReferenceRefused, match="works on its owner only, A"):
        remote("A", far.echo, [1]).backward()


@pytest.mark.usefixtures("settled")
def test_a_context_is_printed_formatted_hashed_and_compared_as_an_integer() -> None:
    with context() as context_id:
        number = int(context_id)
        assert str(context_id) == f"{context_id}" == f"{context_id:d}" == "%d" % context_id == str(number)  # noqa: UP031
        assert hash(context_id) == hash(number)
        assert context_id == number
        assert not context_id != number  # noqa: SIM202
        here: dict[object, str] = {context_id: "here"}
        assert here[number] == "here"
        assert rpc_sync("A", far.echo, [context_id]) == context_id
    with context() as another:
        assert another != context_id
        assert another != number


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("kept", [lambda given: given, int], ids=["context", "integer"])
def test_passes_and_steps_take_a_context_by_pytorchs_names_and_by_ours(kept: Callable[[Any], Any]) -> None:
    parameter, _ = a_loss()
    optimizer = DistributedOptimizer(SGD, [RRef(parameter)], 0.5)
    with context() as context_id:
        held = kept(context_id)
        loss = rpc_sync("A", far.echo, [(parameter * parameter).sum()])
        backward(context_id=held, roots=[loss], retain_graph=True)
        backward(context=held, roots=[loss])  # type: ignore[call-arg]
        assert [one.data.tolist() for one in get_gradients(held).values()] == [[4.0, 8.0]]
        assert len(get_gradients(context=held)) == 1  # type: ignore[call-arg]
        RRef((parameter * 1.0).sum()).backward(context=held)  # type: ignore[call-arg]
        optimizer.step(held)
    assert parameter.data.tolist() == [1.0 - 0.5 * 5.0, 2.0 - 0.5 * 9.0]
    with pytest.raises(ContextReleased, match=r"^context \d+\.\d+\.\d+ is not open on driver"):
        backward(held, [loss])


@pytest.mark.usefixtures("settled")
def test_what_an_optimizer_is_made_with_comes_by_place_or_by_name() -> None:
    parameter, _ = a_loss()
    for made in (
        DistributedOptimizer(optimizer_class=SGD, params_rref=[RRef(parameter)], lr=0.5),
        DistributedOptimizer(optimizer=SGD, parameters=[RRef(parameter)], lr=0.5),  # type: ignore[call-arg]
        DistributedOptimizer(SGD, [RRef(parameter)], 0.5),
    ):
        with context() as context_id:
            backward(context_id, [(parameter * 2.0).sum()])
            made.step(context_id=context_id)
    assert parameter.data.tolist() == [-2.0, -1.0]
