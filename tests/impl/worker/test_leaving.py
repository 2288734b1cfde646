"""R32: leaving a world is bounded, and whoever still waits for something hears that the world was left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from farref.impl import Future, NotRunning, function, launch, remote, rpc_async, rpc_sync, shutdown
from farref.impl.api import current
from tests.impl.far import references as far

BOUND_S = 60
FOR_EVER_S = 600
gate = threading.Event()


@function
def wait_for_gate() -> None:
    gate.wait(FOR_EVER_S)


@pytest.fixture(autouse=True)
def opened_afterwards() -> Iterator[None]:
    gate.clear()
    yield
    gate.set()


def test_R32_a_call_that_does_not_end_is_named_and_its_future_says_that_the_world_was_left() -> None:
    with launch(["A"], allow=["tests.impl.far.references"], shutdown_timeout=0.3):
        running = rpc_async("A", far.slow, [FOR_EVER_S])
        with pytest.warns(
            UserWarning, match=r"driver left after 0.3 s without an answer from tests.impl.far.references:slow on A"
        ):
            shutdown(timeout=0.3)
    with pytest.raises(NotRunning, match="references:slow on A: this worker left the world"):
        running.wait(timeout=BOUND_S)


def test_R32_what_has_ended_is_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    with launch(["A"], allow=["tests.impl.far.references"]):
        assert rpc_sync("A", far.add, [1, 2]) == 3
        assert shutdown().is_empty()
    assert not [str(one.message) for one in recwarn if "left after" in str(one.message)]


BEGINNINGS: dict[str, Callable[[], Future]] = {
    "for a call": lambda: rpc_async("A", far.slow, [FOR_EVER_S], timeout=0),
    "for a value elsewhere": lambda: current().fetch(remote("A", far.slow, [FOR_EVER_S]).reference, 0),
    "for a value here": lambda: current().fetch(remote("driver", wait_for_gate).reference, 0),
    "for what follows a call": lambda: rpc_async("A", far.slow, [FOR_EVER_S], timeout=0).then(Future.wait),
    "for a future of its own": Future,
}


@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
def test_R32_a_thread_that_waits_hears_of_it(begin: Callable[[], Future]) -> None:
    """Without the end of the world it would wait for ever: there is no timeout."""
    with ThreadPoolExecutor(1) as threads, launch(["A"], allow=["tests.impl.far.references"]):
        future, began = begin(), threading.Event()

        def wait() -> None:
            began.set()
            future.wait()

        waiting = threads.submit(wait)
        assert began.wait(BOUND_S)
        shutdown(graceful=False)
        with pytest.raises(NotRunning, match="left the world"):
            waiting.result(timeout=BOUND_S)
