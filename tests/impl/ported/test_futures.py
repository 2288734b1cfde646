"""Futures and `async_execution`, as programs for PyTorch use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from farref.impl import (
    Cluster,
    Future,
    RefusedFunction,
    RpcError,
    RpcTimeout,
    collect_all,
    launch,
    remote,
    rpc_async,
    rpc_sync,
    wait_all,
)
from tests.impl.far import ported as far_ported
from tests.impl.far import references as far
from tests.impl.far import registered
from tests.impl.settling import eventually, settle

WAYS: list[Callable[..., Any]] = [
    rpc_sync,
    lambda *given: rpc_async(*given).wait(),
    lambda *given: remote(*given).to_here(),
]
each_way = pytest.mark.parametrize("called", WAYS, ids=["rpc_sync", "rpc_async", "remote"])
each_owner = pytest.mark.parametrize("owner", ["A", "driver"])


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A", "B"], allow=[far.__name__, far_ported.__name__], rpc_timeout=20) as cluster:
        for name in cluster.names:
            rpc_sync(name, far_ported.begin)
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    yield
    settle(world.names)


# async_execution


@each_way
@each_owner
def test_a_marked_function_answers_with_the_value_of_its_future(called: Callable[..., Any], owner: str) -> None:
    assert called(owner, registered.add_later, ("B", 1, 2)) == 3
    assert called(owner, registered.Adder.both, ("B", 1, 2)) == 3
    assert called(owner, registered.Adder.both_of_class, ("B", 1, 2)) == 3


@each_owner
def test_a_marked_method_answers_through_every_proxy(owner: str) -> None:
    adder = remote(owner, registered.Adder, (1,))
    assert adder.rpc_sync().plus("B", 2) == 3
    assert adder.rpc_async().plus("B", 2).wait() == 3
    assert adder.remote().plus("B", 2).to_here() == 3


@each_way
@each_owner
def test_a_marked_function_that_returns_no_future_is_told(called: Callable[..., Any], owner: str) -> None:
    with pytest.raises(
        TypeError, match="no_future is marked with @async_execution: it returns a Future, and not a int"
    ):
        called(owner, registered.no_future)


def test_a_registered_class_brings_its_public_methods_and_nothing_else() -> None:
    assert rpc_sync("A", f"{registered.__name__}:Adder.both", ("B", 1, 2)) == 3
    for name in ("Adder._private", "Adder.none", "Adder.__init__", "Unregistered.method", "Adder"[:3] + ".both"):
        with pytest.raises(RefusedFunction):
            rpc_sync("A", f"{registered.__name__}:{name}")


# Many at once


def test_all_values_are_collected_in_their_order() -> None:
    held = rpc_async("A", far.held_back, ["last"])
    futures = [held, *(rpc_async(name, far.echo, [number]) for number, name in enumerate("ABAB"))]
    collected = collect_all(futures)
    eventually(lambda: all(future.done() for future in futures[1:]))
    assert not collected.done()
    rpc_sync("A", far.release)
    assert collected.wait() == futures
    assert wait_all(futures) == ["last", 0, 1, 2, 3]
    assert wait_all(future for future in futures[1:]) == [0, 1, 2, 3]
    assert collect_all([]).wait() == wait_all([]) == []


def test_the_first_error_among_many_is_that_of_all_and_comes_when_all_are_done() -> None:
    held = rpc_async("A", far.held_back, ["last"])
    collected = collect_all([held, rpc_async("A", far.fail, ["first"]), rpc_async("B", far.fail, ["second"])])
    with pytest.raises(RpcTimeout):
        collected.wait(timeout=0.2)
    rpc_sync("A", far.release)
    with pytest.raises(ValueError, match="first"):
        collected.wait()
    with pytest.raises(ValueError, match="no"):
        wait_all([rpc_async("B", far.fail)])


# One


def test_an_error_of_a_callback_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def broken(_: object) -> None:
        raise ZeroDivisionError("in a callback")

    future = rpc_async("A", far.echo, [1])
    future.wait()
    future.add_done_callback(broken)
    eventually(lambda: "in a callback" in (told.append(capsys.readouterr().err) or "".join(told)))  # type: ignore[func-returns-value]
    assert f"a callback of {far.__name__}:echo on A raised:\nTraceback" in "".join(told)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), ValueError("no")])
def test_whatever_a_callback_raises_whoever_waits_for_it_is_told(error: BaseException) -> None:
    def broken(_: object) -> None:
        raise error

    with pytest.raises(type(error)):
        rpc_async("A", far.echo, [1]).then(broken).wait(timeout=10)


GIVING: list[Callable[[Future[int]], None]] = [
    lambda future: future.set_result(1),
    lambda future: future.set_exception(ValueError("no")),
]


@pytest.mark.parametrize("first", GIVING)
@pytest.mark.parametrize("second", GIVING)
def test_a_future_takes_one_value_or_error(
    first: Callable[[Future[int]], None], second: Callable[[Future[int]], None]
) -> None:
    future: Future[int] = Future()
    first(future)
    with pytest.raises(RpcError, match="is done already: a value or an error is given once"):
        second(future)


def test_only_an_exception_is_given_in_place_of_a_value() -> None:
    with pytest.raises(TypeError, match="an exception is given in place of a value, and not 'no'"):
        Future().set_exception("no")  # type: ignore[arg-type]


def test_a_future_that_came_too_late_by_itself_is_nobodys_mistake() -> None:
    future: Future[int] = Future(timeout=0.05)
    with pytest.raises(RpcTimeout):
        future.wait()
    future.set_result(3)
    with pytest.raises(RpcTimeout):
        future.wait()
