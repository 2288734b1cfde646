"""The rule about arrays (spec/arrays.md): what a call has taken does not change, and what was received does not either."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from farref.impl import launch, rpc_sync
from farref.impl.transport.streams import Transport
from tests.impl.far import arrays as far_arrays
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.unthreaded import B, Pair, making, turn

FAR = ("tests.impl.far.references", "tests.impl.far.arrays")
SIZES = [100, 1024, 20_000]
"""In the body of a message, in a segment of one write, and in a segment that takes several."""


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two workers without threads, and without shared memory."""
    with making() as make_pair:
        yield make_pair(None, None, far_arrays.__name__)


@pytest.mark.parametrize("elements", SIZES)
def test_a_result_is_what_the_function_returned_and_not_what_became_of_it(pair: Pair, elements: int) -> None:
    a, b = pair
    far_arrays.begin(elements)
    futures = [a.call("B", far_arrays.count, [], {}, None) for _ in range(3)]
    a.flush()
    while not all(future.done() for future in futures):
        turn(b)
        a.intake.turn(0.0)
    assert [(future.value().min(), future.value().max()) for future in futures] == [(1, 1), (2, 2), (3, 3)]


class Gated:
    """A stream whose first write waits for a gate."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.begun, self.gate = threading.Event(), threading.Event()

    def send(self, piece: Any) -> int:
        self.begun.set()
        assert self.gate.wait(20)
        return int(self._stream.send(piece))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@pytest.mark.parametrize("elements", SIZES)
def test_an_argument_may_be_changed_as_soon_as_the_call_has_returned(
    pair: Pair, elements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread is writing to the same peer, so the call returns before anything of it is written."""
    a, b = pair
    connection = a.connections[B]
    gated = Gated(connection.stream)
    monkeypatch.setattr(connection, "stream", gated)
    writing = threading.Thread(target=a.call, args=("B", far.echo, [0], {}, None))
    writing.start()
    assert gated.begun.wait(20)
    array = np.full(elements, 1.0)
    future = a.call("B", far.echo, [array], {}, None)
    array[:] = 666.0
    gated.gate.set()
    writing.join()
    while not future.done():
        a.flush()
        turn(b)
        a.intake.turn(0.0)
    assert (future.value().min(), future.value().max()) == (1.0, 1.0)


each_transport = pytest.mark.parametrize("transport", ["unix", "tcp"])


@each_transport
def test_an_array_that_was_received_does_not_change_when_the_link_to_its_sender_breaks(transport: Transport) -> None:
    """Both live on. The sender has other arrays to send, and must not put them where the first one is still looked at."""
    with launch(["A", "B", "C"], allow=FAR, transport=transport, rpc_timeout=20):
        rpc_sync("A", far_arrays.send, ["B", 1.0])
        assert rpc_sync("B", far_arrays.kept) == (1.0, 1.0)
        rpc_sync("A", far_arrays.break_link, ["B"])
        rpc_sync("A", far_arrays.send_all, ["C", 666.0])
        assert rpc_sync("B", far_arrays.kept) == (1.0, 1.0)


@each_transport
def test_a_gradient_is_right_after_a_link_broke(transport: Transport) -> None:
    """The rule of a product keeps its factors, and one of them came from a worker that cannot be reached any more."""
    with launch(["A", "B", "C"], allow=FAR, transport=transport, rpc_timeout=20):
        rpc_sync("A", far_arrays.send, ["B", 1.0])
        rpc_sync("B", far_arrays.multiply)
        rpc_sync("A", far_arrays.break_link, ["B"])
        rpc_sync("A", far_arrays.send_all, ["C", 666.0])
        assert rpc_sync("B", far_arrays.slope) == (1.0, 1.0)


def test_what_a_killed_worker_was_lent_comes_back() -> None:
    with launch(["A", "B"], allow=FAR, rpc_timeout=20) as world:
        rpc_sync("A", far_arrays.send, ["B", 1.0])
        assert rpc_sync("A", far_arrays.lent) == 1
        world.kill("B")
        eventually(lambda: rpc_sync("A", far_arrays.lent) == 0)
