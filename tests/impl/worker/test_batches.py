"""What is left to the next reader leaves although nobody waits, and what queues behind a blocked function runs all the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from farref.impl import Cluster, launch, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.worker.lines import BATCH, FEW_CALLS
from tests.impl.far import references as far
from tests.impl.settling import eventually


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20) as cluster:
        yield cluster


@pytest.mark.parametrize("pause", [0.0, 0.5], ids=["while a caller has just read", "while the background reads"])
def test_creations_leave_although_nobody_waits(world: Cluster, tmp_path: Path, pause: float) -> None:
    assert world
    rpc_sync("A", far.echo)
    time.sleep(pause)
    kept = [remote("A", far.touch, [str(tmp_path / str(number))]) for number in range(3)]
    eventually(lambda: len(list(tmp_path.iterdir())) == len(kept))


@pytest.mark.parametrize("pause", [0.0, 0.5], ids=["while a caller has just read", "while the background reads"])
def test_many_calls_leave_although_nobody_waits(world: Cluster, tmp_path: Path, pause: float) -> None:
    assert world
    rpc_sync("A", far.echo)
    time.sleep(pause)
    count = FEW_CALLS + 3
    futures = [rpc_async("A", far.touch, [str(tmp_path / str(number))]) for number in range(count)]
    eventually(lambda: len(list(tmp_path.iterdir())) == count)
    for future in futures:
        future.wait()


def test_calls_run_that_came_with_one_that_blocks(world: Cluster) -> None:
    """The worker is stopped while they are sent, so that it reads all of them at once."""
    os.kill(world.pid("A"), signal.SIGSTOP)
    try:
        blocked = rpc_async("A", far.held_back)
        others = [rpc_async("A", far.echo, [number]) for number in range(2 * BATCH)]
        current().flush()
    finally:
        os.kill(world.pid("A"), signal.SIGCONT)
    assert [future.wait() for future in others] == list(range(2 * BATCH))
    assert not blocked.done()
    rpc_sync("A", far.release)
    blocked.wait()


class Counting:
    """A stream that counts how often it is written to."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        self.writes += name in ("send", "sendmsg")
        return getattr(self._stream, name)


def test_one_write_carries_many_calls(world: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world
    rpc_sync("A", far.echo)
    (connection,) = current().connections.values()
    counting = Counting(connection.stream)
    monkeypatch.setattr(connection, "stream", counting)
    futures = [rpc_async("A", far.echo, [number]) for number in range(500)]
    assert [future.wait() for future in futures] == list(range(500))
    assert counting.writes < 250
