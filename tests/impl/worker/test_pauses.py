"""Peers that stand still for a while: nothing is lost, memory has a limit, and nobody else notices."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from farref.impl import Cluster, RpcTimeout, RRef, get_debug_info, launch, remote, rpc_async, rpc_sync
from farref.impl.transport.boards import Folder
from farref.impl.worker.connection import QUEUED_BYTES_MAX
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle
from tests.impl.worker.unthreaded import B, Pair

MEBIBYTE = bytes(2**20)
"""Not an array, which would travel through shared memory and queue up nowhere."""


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A", "B", "C"], allow=["tests.impl.far.references"], rpc_timeout=30) as cluster:
        for name in cluster.names:
            rpc_sync(name, far.name)  # whoever answers has met all the others, and keeps none of them out
        yield cluster


@pytest.fixture(autouse=True)
def nothing_is_left(world: Cluster) -> Iterator[None]:
    yield
    settle(world.names)


def stands_still(pid: int) -> bool:
    """Say whether every thread of a process is stopped: the signal takes effect a moment after it was sent."""
    states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in Path(f"/proc/{pid}/task").iterdir()]
    return set(states) == {"T"}


@contextmanager
def standing_still(world: Cluster, name: str) -> Iterator[None]:
    os.kill(world.pid(name), signal.SIGSTOP)
    eventually(lambda: stands_still(world.pid(name)))
    try:
        yield
    finally:
        os.kill(world.pid(name), signal.SIGCONT)


def test_calls_to_a_peer_that_takes_nothing_in_wait_and_then_fail_while_memory_has_a_limit(world: Cluster) -> None:
    futures = []

    def call_often() -> None:
        for _ in range(200):
            futures.append(rpc_async("A", far.size, [MEBIBYTE], timeout=1.0))

    with standing_still(world, "A"):
        with pytest.raises(RpcTimeout, match="A has taken nothing in"):
            call_often()
        assert len(futures) > 32
        assert far.pressure("A")[0] <= QUEUED_BYTES_MAX + 2 * 2**20
        with pytest.raises(RpcTimeout, match="A has taken nothing in"):
            remote("A", far.size, [MEBIBYTE], timeout=0.1)
        assert rpc_sync("B", far.add, [1, 1], timeout=10) == 2
    assert rpc_sync("A", far.size, [MEBIBYTE]) == 2**20


def test_a_caller_that_waits_for_room_goes_on_when_there_is_some(world: Cluster) -> None:
    """Nothing that was called is lost: each call runs once, and all of them are answered."""
    with standing_still(world, "A"):
        wake = threading.Timer(1.0, lambda: os.kill(world.pid("A"), signal.SIGCONT))
        wake.start()
        futures = [rpc_async("A", far.size, [MEBIBYTE]) for _ in range(200)]
        wake.join()
    assert [future.wait() for future in futures] == [2**20] * 200


def test_results_for_a_caller_that_takes_nothing_in_are_not_computed_until_it_does(world: Cluster) -> None:
    """A calls B two hundred times for a mebibyte, and stands still. B begins only some of them, until A goes on."""
    with standing_still(world, "B"):
        came = rpc_async("A", far.ask_often, ["B", 200])
        eventually(lambda: rpc_sync("A", far.has_asked))
        os.kill(world.pid("A"), signal.SIGSTOP)
    with standing_still(world, "A"):
        eventually(lambda: rpc_sync("B", far.pressure, ["A"])[1] > 0)
        queued, deferred = rpc_sync("B", far.pressure, ["A"])
        assert queued < QUEUED_BYTES_MAX + 64 * 2**20, "what ran already when the limit was reached, and no more"
        assert deferred > 50
        assert rpc_sync("C", far.fetch, [remote("B", far.echo, ["others go on"])]) == "others go on"
    assert came.wait() == 200 * 2**20


@pytest.mark.parametrize("still", ["A", "B", "C"], ids=["user", "owner", "third"])
def test_a_pause_shorter_than_the_timeouts_loses_nothing(world: Cluster, still: str) -> None:
    """The owner, a user or the one it shares with stands still while references are made, shared, fetched and dropped."""
    kept = rpc_sync("A", far.create, ["B", "kept"])
    with standing_still(world, still):
        made = remote("B", far.echo, ["made"])
        shared = rpc_async("C", far.pass_on, [kept, "A"])
        fetched = rpc_async("A", far.fetch, [made])
        mine = rpc_async(still, far.fetch, [RRef("mine")])
        del made
        with pytest.raises(RpcTimeout):
            mine.wait(timeout=0.7)
    assert [future.wait() for future in (shared, fetched, mine)] == ["kept", "made", "mine"]
    assert get_debug_info().dead == ()
    del kept


def test_a_pause_in_the_middle_of_a_large_result_loses_nothing(world: Cluster) -> None:
    results = [rpc_async("A", far.echo, [np.zeros(2**22)]) for _ in range(3)]
    for _ in range(5):
        with standing_still(world, "A"):
            assert rpc_sync("B", far.add, [1, 1]) == 2
    assert [result.wait().nbytes for result in results] == [2**25] * 3


def test_whoever_was_stopped_itself_takes_nobody_elses_silence_for_a_sign(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts the silence of others from when it went on (R36)."""
    worker, board, suspected = pair[0], Folder(Path(), "unix"), []
    monkeypatch.setattr(worker.membership, "_board", board)
    monkeypatch.setattr(worker, "declare_dead", lambda peer, _: suspected.append(peer))
    times = [0.0, *(100.0 + second for second in range(30))]  # silence_seconds is 30
    for time in times:
        worker.membership.tick(time)
    assert suspected == []
    worker.membership.tick(130.5)
    assert suspected == [B]
