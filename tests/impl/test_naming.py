"""An error names the worker and the function that it is about, as the README promises."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from farref.impl import Cluster, RefusedFunction, RefusedValue, RpcTimeout, launch, remote, rpc_async, rpc_sync
from farref.impl.autograd import ContextReleased, backward, context, get_gradients
from farref.impl.tape import tensor
from tests.impl.far import references as far


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__], rpc_timeout=20) as cluster:
        yield cluster


@pytest.mark.parametrize("begin", [rpc_sync, rpc_async, remote])
@pytest.mark.parametrize("to", ["A", "driver"])
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"args": [threading.Lock()]}, "a value of type _thread.lock cannot travel"),
        ({"kwargs": {"value": [threading.Lock()]}}, "a value of type _thread.lock cannot travel"),
        ({"args": ["\udcff"]}, "a value cannot be written"),
    ],
)
def test_an_argument_that_cannot_travel_is_said_to_be_one(
    begin: Callable[..., object], to: str, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(RefusedValue, match=f"^an argument of tests.impl.far.references:echo on {to}: {told}"):
        begin(to, far.echo, **given)


@pytest.mark.parametrize("to", ["A", "driver"])
def test_a_result_that_cannot_travel_is_said_to_be_one(to: str) -> None:
    told = "a value of type _thread.lock cannot travel$"
    with pytest.raises(RefusedValue, match=f"^the result of tests.impl.far.references:unserialisable on {to}: {told}"):
        rpc_sync(to, far.unserialisable)


def test_a_value_that_cannot_travel_is_said_to_be_one() -> None:
    reference = remote("A", far.unserialisable)
    told = re.escape(f"the value of {reference.id} on A: a value of type _thread.lock cannot travel")
    with pytest.raises(RefusedValue, match=f"^{told}$"):
        reference.to_here()


@pytest.mark.parametrize("to", ["A", "driver"])
def test_a_function_that_may_not_be_called_says_where_and_what_to_do(to: str) -> None:
    told = rf"os:system is not registered on {to}, .*@function.*launch\(allow=\['os'\]\)"
    with pytest.raises(RefusedFunction, match=told):
        rpc_sync(to, "os:system", ["true"])
    with pytest.raises(RefusedFunction, match=f"references:nothing is no function .* on {to}"):
        rpc_sync(to, "tests.impl.far.references:nothing")


@pytest.mark.parametrize("to", ["A", "driver"])
def test_a_fetch_that_takes_too_long_names_the_owner(to: str) -> None:
    reference = remote(to, far.slow, [0.3])
    with pytest.raises(RpcTimeout, match=re.escape(f"the value of {reference.id} on {to}: no answer within 0.02 s")):
        reference.to_here(timeout=0.02)
    assert reference.to_here() is None


def test_a_released_context_is_not_open_on_a_worker_with_a_name() -> None:
    with context() as released:
        pass
    loss = (tensor([1.0], requires_grad=True) * 2).sum()
    for use in (lambda: backward(released, [loss]), lambda: get_gradients(released)):
        with pytest.raises(ContextReleased, match=f"{released.told} is not open on driver: it was released"):
            use()
