"""What PyTorch's own tests say of proxies, futures and timeouts, said of ours (spec/parity.md)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from farref.impl import (
    Cluster,
    Future,
    RpcError,
    RpcTimeout,
    RRef,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle

each_owner = pytest.mark.parametrize("owner", ["B", "driver"])


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(
        ["A", "B", "C"], allow=["tests.impl.far.references", "tests.impl.far.objects"], rpc_timeout=20
    ) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    yield
    settle(world.names)


# Proxies


@each_owner
def test_proxies_of_an_array(owner: str) -> None:
    x = remote(owner, far.echo, [np.arange(4.0)])
    assert x.rpc_sync().sum() == 6
    np.testing.assert_array_equal(x.rpc_async().reshape(2, 2).wait(), [[0, 1], [2, 3]])
    assert x.remote().max().to_here() == 3


@each_owner
def test_proxies_of_an_object_run_every_kind_of_method_and_keep_its_state(owner: str) -> None:
    x = remote(owner, far_objects.Thing, [1])
    assert x.rpc_sync().get() == 1
    x.rpc_async().set(2).wait()
    assert x.rpc_sync().get() == 2
    assert x.remote().get().to_here() == 2
    assert x.rpc_sync().twice(value=4) == 8
    assert x.remote().kind().to_here() == "Thing"


def test_one_proxy_serves_many_calls() -> None:
    x = remote("B", far_objects.Thing, [0])
    sync, later = x.rpc_sync(), x.rpc_async()
    for number in range(10):
        sync.set(number)
        assert sync.get() == number
    assert [future.wait() for future in [later.twice(number) for number in range(10)]] == list(range(0, 20, 2))


@each_owner
def test_a_method_that_does_not_exist_is_an_attribute_error_with_each_proxy(owner: str) -> None:
    x = remote(owner, far_objects.Thing, [0])
    with pytest.raises(AttributeError, match="no_such_method"):
        x.rpc_sync().no_such_method()
    with pytest.raises(AttributeError, match="no_such_method"):
        x.rpc_async().no_such_method().wait()
    with pytest.raises(AttributeError, match="no_such_method"):
        x.remote().no_such_method().to_here()
    with pytest.raises(AttributeError):
        x.rpc_sync()._private()


def test_proxies_time_out_by_a_slow_method() -> None:
    x = remote("B", far_objects.Thing, [1])
    with pytest.raises(RpcTimeout):
        x.rpc_sync(timeout=0.1).slow(0.3)
    with pytest.raises(RpcTimeout):
        x.rpc_async(timeout=0.1).slow(0.3).wait()
    assert x.rpc_sync(timeout=10).slow(0.1) == 1


def test_the_time_of_a_creation_is_up_to_its_confirmation_and_not_to_its_value() -> None:
    x = remote("B", far_objects.Thing, [1])
    creation = x.remote(timeout=1.0).slow(1.2)
    assert creation.to_here() == 1


def test_proxies_time_out_by_a_slow_creation_and_work_later() -> None:
    x = remote("B", far_objects.Thing, [1, 1.5])
    with pytest.raises(RpcTimeout):
        x.rpc_sync(timeout=0.1).get()
    with pytest.raises(RpcTimeout):
        x.rpc_async(timeout=0.1).get().wait()
    assert x.remote(timeout=1.0).get().to_here() == 1
    assert x.rpc_sync().get() == 1


@each_owner
def test_an_error_of_the_constructor_comes_through_every_proxy(owner: str) -> None:
    x = remote(owner, far_objects.Broken)
    with pytest.raises(ValueError, match="broken"):
        x.rpc_sync().get()
    with pytest.raises(ValueError, match="broken"):
        x.rpc_async().get().wait()
    with pytest.raises(ValueError, match="broken"):
        x.remote().get().to_here()


@each_owner
def test_methods_that_return_futures_are_waited_for_through_every_proxy(owner: str) -> None:
    x = remote(owner, far_objects.Thing, [1])
    assert x.rpc_sync().later("C", 2) == 3
    assert x.rpc_async().later("C", 2).wait() == 3
    assert x.remote().later("C", 2).to_here() == 3


def test_a_parameter_server_averages_what_three_trainers_push() -> None:
    server = RRef(far_objects.ParameterServer(3))
    trainers = [rpc_async(name, far_objects.train, [server, 4, float(n)]) for n, name in enumerate("ABC")]
    for trainer in trainers:
        np.testing.assert_array_equal(trainer.wait(), [-4.0, -4.0, -4.0])


# Functions that return futures


@pytest.mark.parametrize("to", ["A", "driver"])
def test_functions_that_return_futures_through_every_kind_of_call(to: str) -> None:
    cases: list[tuple[object, list[object], object]] = [
        (far_objects.made_by_hand, ["value"], "value"),
        (far_objects.chained, ["B", 1, 2, 3], 6),
        (far_objects.chained_often, ["B", 1, 20], 21),
        (far_objects.nested_later, ["B", 1, 2], 3),
        (far_objects.fan_out, ["B", 5], 15),
        (far_objects.Thing.static_later, ["B", 1, 2], 3),
        (far_objects.Thing.class_later, ["B", 1, 2], 3),
    ]
    for function, args, expected in cases:
        assert rpc_sync(to, function, args) == expected  # type: ignore[arg-type]
        assert rpc_async(to, function, args).wait() == expected  # type: ignore[arg-type]
        assert remote(to, function, args).to_here() == expected  # type: ignore[arg-type]


def test_an_error_in_a_future_that_a_function_returned_is_the_callers() -> None:
    with pytest.raises(ZeroDivisionError):
        rpc_sync("A", far_objects.failing_later)
    with pytest.raises(ZeroDivisionError):
        remote("A", far_objects.failing_later).to_here()


def test_futures_are_waited_for_with_a_limit_and_completed_once() -> None:
    slow = rpc_async("A", far.held_back, ["value"])
    with pytest.raises(RpcTimeout, match="nothing came within"):
        slow.wait(timeout=0.05)
    assert not slow.done()
    chain = slow.then(lambda future: future.wait() + "!").then(lambda future: future.value() + "?")
    rpc_sync("A", far.release)
    assert chain.wait() == "value!?"
    assert slow.wait(timeout=5) == "value"
    own = Future()
    own.set_result(1)
    with pytest.raises(RpcError, match="a future is done already: a value or an error is given once"):
        own.set_result(2)
    with pytest.raises(RpcError, match="done already"):
        own.set_exception(ValueError())
    assert own.wait() == 1


def test_a_callback_may_call_and_wait() -> None:
    """It runs by itself, on a thread that may wait, and not where answers are read."""
    called: list[int] = []
    future = rpc_async("A", far.echo, [1])
    future.add_done_callback(lambda done: called.append(rpc_sync("A", far.add, [done.wait(), 1])))
    eventually(lambda: called == [2])


def test_an_error_in_a_callback_is_the_error_of_its_future() -> None:
    future = rpc_async("A", far.echo, [1]).then(lambda done: done.wait() // 0)
    with pytest.raises(ZeroDivisionError):
        future.wait()


# Plain calls


def test_timeouts_by_call_by_default_and_none_at_all() -> None:
    with pytest.raises(RpcTimeout):
        rpc_sync("A", far.slow, [0.3], timeout=0.1)
    with pytest.raises(RpcTimeout):
        rpc_async("A", far.slow, [0.3], timeout=0.1).wait()
    assert rpc_sync("A", far.slow, [0.1, 1], timeout=0) == 1
    assert rpc_sync("A", far.slow, [0.1, 1]) == 1


def test_calls_wait_for_each_other_without_end_and_without_deadlock() -> None:
    futures = [rpc_async(name, far.nested, [["A", "B", "C"], 12]) for name in "ABC" for _ in range(4)]
    assert [future.wait() for future in futures] == [12] * 12
    eventually(lambda: all(future.done() for future in futures))
