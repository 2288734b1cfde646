"""What a program or a peer can make grow has an end, and settings that cannot work are refused at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from farref.impl import Cluster, RpcError, RpcTimeout, init_rpc, launch, rpc_async, rpc_sync
from farref.impl.settings import Settings
from tests.impl.far import faults as far_faults
from tests.impl.far import references as far


@pytest.fixture
def world() -> Iterator[Cluster]:
    allowed = ["tests.impl.far.references", "tests.impl.far.faults"]
    with launch(["A"], allow=allowed, rpc_timeout=20) as cluster:
        yield cluster


@pytest.mark.parametrize("limit", [0, -1, 4095, 2**32, 2**40, 1.5, None])
def test_a_limit_of_frames_that_no_frame_can_have_is_refused_at_once(limit: int) -> None:
    with pytest.raises(RpcError, match="frame_bytes_max"), launch(["A"], frame_bytes_max=limit):
        pass
    with pytest.raises(RpcError, match="frame_bytes_max"):
        init_rpc("A", 0, 1, directory="/", settings=Settings(frame_bytes_max=limit))


def test_a_future_that_is_asked_often_keeps_nothing_of_it(world: Cluster) -> None:
    assert world
    future = rpc_async("A", far.held_back)
    for _ in range(500):
        with pytest.raises(RpcTimeout):
            future.wait(timeout=1e-5)
    assert future.callbacks() <= 1
    rpc_sync("A", far.release)
    future.wait()
    assert future.callbacks() == 0


def test_a_worker_that_can_start_no_thread_goes_on(world: Cluster) -> None:
    assert world
    rpc_sync("A", far_faults.start_no_threads)
    blocked = rpc_async("A", far.held_back)
    assert [rpc_sync("A", far.echo, [number]) for number in range(50)] == list(range(50))
    futures = [rpc_async("A", far.echo, [number]) for number in range(200)]
    assert [future.wait() for future in futures] == list(range(200))
    rpc_sync("A", far_faults.start_threads)
    rpc_sync("A", far.release)
    blocked.wait()
    assert rpc_sync("A", far.nested, [["A", "driver"], 6]) == 6
