"""What is given by mistake is refused at once, in one sentence that says what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from farref.impl import Cluster, Future, RRef, get_debug_info, launch, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.autograd import backward, context
from farref.impl.tape import tensor
from tests.impl.far import references as far

Begin = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__], rpc_timeout=20) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def nothing_has_begun() -> Iterator[None]:
    yield
    assert not current().calls
    assert not get_debug_info().parked_calls


# Timeouts


@pytest.mark.parametrize(
    "use",
    [
        lambda wrong: rpc_sync("A", far.echo, timeout=wrong),
        lambda wrong: rpc_async("A", far.echo, timeout=wrong),
        lambda wrong: remote("A", far.echo, timeout=wrong),
        lambda wrong: remote("driver", far.echo, timeout=wrong),
        lambda wrong: RRef(1).to_here(timeout=wrong),
        lambda wrong: remote("A", far.echo).to_here(timeout=wrong),
        lambda wrong: remote("A", far.counter).rpc_sync(timeout=wrong).increase(),
        lambda wrong: Future().wait(timeout=wrong),
    ],
    ids=["rpc_sync", "rpc_async", "remote", "remote here", "to_here here", "to_here", "a method", "wait"],
)
@pytest.mark.parametrize(
    ("wrong", "error"), [(-2, ValueError), (-0.5, ValueError), (float("nan"), ValueError), ("3", TypeError)]
)
def test_a_timeout_is_a_number_of_seconds(use: Begin, wrong: object, error: type[Exception]) -> None:
    with pytest.raises(
        error,
        match=r"a timeout is a number of seconds, or 0 \(for ever\); in a call also None or -1 \(the default\); not",
    ):
        use(wrong)


def test_a_timeout_of_a_pass_is_a_number_of_seconds() -> None:
    loss = (tensor([1.0], requires_grad=True) * 2).sum()
    with context() as current_context, pytest.raises(ValueError, match="a timeout is a number of seconds"):
        backward(current_context, [loss], timeout=-2)


@pytest.mark.parametrize("right", [0, 5, 5.0, np.float32(5), np.int64(5), float("inf"), None, -1, -1.0])
def test_any_number_of_seconds_is_a_timeout(right: Any) -> None:
    assert rpc_sync("A", far.echo, [1], timeout=right) == 1
    assert remote("A", far.echo, [1]).to_here(timeout=right) == 1


# Arguments


@pytest.mark.parametrize("begin", [rpc_sync, rpc_async, remote])
@pytest.mark.parametrize("to", ["A", "driver"])
def test_arguments_are_a_list_or_a_tuple_and_named_ones_a_mapping(begin: Begin, to: str) -> None:
    for wrong in ("ab", 5, {"a": 1}, np.ones(2)):
        with pytest.raises(TypeError, match=r"the args of .*references:add are a list or a tuple, and not a"):
            begin(to, far.add, wrong)
    for unnamed in ([], ["a"], "a", 0):
        with pytest.raises(TypeError, match=r"the kwargs of .*references:add are a mapping, and not a"):
            begin(to, far.add, [1], unnamed)
