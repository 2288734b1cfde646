"""What is left to the next reader leaves although nobody waits, and what queues behind a blocked function runs all the same."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farref.impl import Cluster, launch, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.worker.lines import BATCH, FEW_CALLS
from tests.impl.far import references as far

LONG = 5.0


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=["tests.impl.far.references"], rpc_timeout=20) as cluster:
        yield cluster


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()


@pytest.mark.parametrize("pause", [0.0, 0.5], ids=["while a caller has just read", "while the background reads"])
def test_creations_leave_although_nobody_waits(world: Cluster, tmp_path: Path, pause: float) -> None:
    assert world
    rpc_sync("A", far.echo)
    time.sleep(pause)
    kept = [remote("A", far.touch, [str(tmp_path / str(number))]) for number in range(3)]
    assert within(LONG / 5, lambda: len(list(tmp_path.iterdir())) == len(kept))


@pytest.mark.parametrize("pause", [0.0, 0.5], ids=["while a caller has just read", "while the background reads"])
def test_many_calls_leave_although_nobody_waits(world: Cluster, tmp_path: Path, pause: float) -> None:
    assert world
    rpc_sync("A", far.echo)
    time.sleep(pause)
    count = FEW_CALLS + 3
    futures = [rpc_async("A", far.touch, [str(tmp_path / str(number))]) for number in range(count)]
    assert within(LONG / 5, lambda: len(list(tmp_path.iterdir())) == count)
    for future in futures:
        future.wait()


def test_calls_run_that_came_with_one_that_blocks(world: Cluster) -> None:
    """The worker is stopped while they are sent, so that it reads all of them at once."""
    os.kill(world.pid("A"), signal.SIGSTOP)
    try:
        blocked = rpc_async("A", far.slow, [LONG])
        others = [rpc_async("A", far.echo, [number]) for number in range(2 * BATCH)]
        current().flush()
    finally:
        os.kill(world.pid("A"), signal.SIGCONT)
    assert [future.wait(timeout=LONG / 2) for future in others] == list(range(2 * BATCH))
    assert not blocked.done()
    blocked.wait()


def test_one_write_carries_many_calls(world: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world
    rpc_sync("A", far.echo)
    (connection,) = current().connections.values()
    writes: list[int] = []
    write = connection._write

    def counted(patient: bool) -> bool:
        writes.append(len(connection.outbox))
        return write(patient)

    monkeypatch.setattr(connection, "_write", counted)
    futures = [rpc_async("A", far.echo, [number]) for number in range(500)]
    assert [future.wait() for future in futures] == list(range(500))
    assert len(writes) < 250, writes
