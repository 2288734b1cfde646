"""Real processes: calls, errors, and each way to share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from farref.impl import (
    Cluster,
    PeerDied,
    ReferenceRefused,
    RefusedFunction,
    RefusedValue,
    RemoteError,
    RpcTimeout,
    RRef,
    UnknownWorker,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle


@pytest.fixture(scope="module", params=["unix", "tcp"])
def world(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with launch(
        ["A", "B", "C"], allow=["tests.impl.far.references"], transport=request.param, rpc_timeout=10
    ) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    """After every test, every table of every worker becomes empty."""
    yield
    settle(world.names)


# Calls


def test_calls_by_name_rank_and_description() -> None:
    assert rpc_sync("A", far.add, [1, 2]) == 3
    assert rpc_sync(1, far.add, args=(1,), kwargs={"b": 3}) == 4
    assert rpc_sync("B", far.name) == "B"
    assert rpc_sync("driver", far.name) == "driver"


def test_arrays_small_large_and_huge() -> None:
    for size in (3, 2000, 300_000, 3_000_000):
        array = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(rpc_sync("A", far.echo, [array]), array)


def test_many_calls_at_once_and_callbacks() -> None:
    futures = [rpc_async("A", far.echo, [number]) for number in range(500)]
    assert [future.wait() for future in futures] == list(range(500))
    assert rpc_async("A", far.echo, [1]).then(lambda future: future.wait() + 1).wait() == 2
    assert rpc_sync("A", far.later, ["B", 1]) == 2


def test_slow_functions_run_side_by_side() -> None:
    """None of them returns before the last one has begun."""
    futures = [rpc_async("A", far.held_back, [number]) for number in range(30)]
    rpc_sync("A", far.release)
    assert [future.wait() for future in futures] == list(range(30))


def test_nested_calls_of_any_depth() -> None:
    assert rpc_sync("A", far.nested, [["A", "B"], 100]) == 100
    assert rpc_sync("A", far.nested, [["A"], 40]) == 40


# Errors


def test_an_error_keeps_its_type_and_brings_its_traceback() -> None:
    with pytest.raises(ValueError, match="references:fail: why") as caught:
        rpc_sync("A", far.fail, ["why"])
    assert isinstance(caught.value, RemoteError)
    assert "raise ValueError(message)" in caught.value.traceback
    with pytest.raises(far.CustomError, match="1 and 2"):
        rpc_sync("A", far.fail_custom)
    with pytest.raises(FileNotFoundError):
        rpc_sync("A", far.fail_os)


def test_unknown_workers_functions_and_values_are_refused() -> None:
    with pytest.raises(UnknownWorker, match="nobody"):
        rpc_sync("nobody", far.echo)
    with pytest.raises(RefusedFunction, match="eval"):
        rpc_sync("A", eval, ["1"])
    with pytest.raises(RefusedFunction, match="not registered"):
        rpc_sync("A", "os:system", ["true"])
    with pytest.raises(RefusedFunction, match="no name"):
        rpc_sync("A", lambda: 0)
    with pytest.raises(RefusedValue, match="cannot travel"):
        rpc_sync("A", far.echo, [object()])
    with pytest.raises(RefusedValue, match="cannot travel"):
        rpc_sync("A", far.unserialisable)
    with pytest.raises(RefusedValue, match="limit"):
        rpc_sync("A", far.echo, [np.zeros(70_000_000, np.uint8)])


def test_what_is_no_function_is_refused_at_once() -> None:
    for wrong in (3, None, [], object()):
        with pytest.raises(RefusedFunction, match="no name"):
            rpc_sync("A", wrong)  # type: ignore[arg-type]
        with pytest.raises(RefusedFunction, match="no name"):
            remote("A", wrong)  # type: ignore[arg-type]


def test_timeouts_fire() -> None:
    """The function does not return before the test says so: whoever waits for it is told, whoever does not as well."""
    with pytest.raises(RpcTimeout, match="references:held_back on A"):
        rpc_sync("A", far.held_back, timeout=0.1)
    future = rpc_async("A", far.held_back, timeout=0.1)
    eventually(future.done)
    rpc_sync("A", far.release)


# The ways to share


def test_R10_R20_create_fetch_and_let_go() -> None:
    x = remote("B", far.echo, [[1, 2]])
    assert x.to_here() == [1, 2]
    assert not x.is_owner()
    assert x.owner_name() == "B"
    eventually(x.confirmed_by_owner)
    with pytest.raises(ReferenceRefused, match="owner only"):
        x.local_value()


def test_R12_R13_creation_here() -> None:
    assert remote("driver", far.add, [1, 2]).local_value() == 3
    assert RRef("here").to_here() == "here"
    assert rpc_sync("A", far.fetch, [RRef("from the driver")]) == "from the driver"


def test_R14_R15_the_owner_shares_with_a_user() -> None:
    assert rpc_sync("A", far.confirmed, [RRef(1)])
    x = rpc_sync("B", far.make, ["made there"])
    assert x.owner_name() == "B"
    assert x.confirmed_by_owner()
    assert x.to_here() == "made there"


def test_R16_a_user_shares_with_a_user() -> None:
    x = remote("B", far.echo, ["value"])
    assert rpc_sync("C", far.confirmed, [x])
    assert rpc_sync("C", far.fetch, [x]) == "value"
    assert rpc_sync("C", far.pass_on, [x, "A"]) == "value"


def test_R16_a_user_returns_a_fork_to_a_user() -> None:
    x = rpc_sync("A", far.create, ["B", 7])
    assert x.to_here() == 7
    rpc_sync("C", far.keep, [x])
    del x
    assert rpc_sync("C", far.give_back).to_here() == 7


def test_R19_a_user_shares_with_the_owner_and_itself() -> None:
    x = remote("B", far.echo, [3])
    assert rpc_sync("B", far.local, [x]) == 3
    assert rpc_sync("driver", far.fetch, [x]) == 3
    assert rpc_sync("B", far.pass_to_self, [x]) == 3


def test_references_inside_values_and_arguments() -> None:
    x = remote("B", far.echo, [{"inner": [RRef(5)]}])
    assert x.to_here()["inner"][0].to_here() == 5
    y = remote("C", far.fetch, [x])
    assert y.to_here()["inner"][0].to_here() == 5


def test_proxies_call_methods_where_the_value_is() -> None:
    rpc_sync("B", far.keep, [remote("B", far.counter)])
    x = remote("B", far.counter)
    assert x.rpc_sync().increase() == 1
    assert x.rpc_async().increase(by=2).wait() == 3
    assert x.remote().where().to_here() == "B"
    with pytest.raises(AttributeError):
        x.rpc_sync().nothing()


def test_a_thousand_handles_at_once() -> None:
    rrefs = [remote("ABC"[number % 3], far.echo, [number]) for number in range(1000)]
    assert [rref.to_here() for rref in rrefs] == list(range(1000))
    del rrefs


def test_errors_name_the_peer_only_when_it_died() -> None:
    assert rpc_sync("A", far.dead_workers) == []
    with pytest.raises(RemoteError) as caught:
        rpc_sync("A", far.fail)
    assert not isinstance(caught.value, PeerDied)
