"""Random work on real processes, with real concurrency. FARREF_SOAK_SECONDS makes it long."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

from farref.impl import get_debug_info, launch, rpc_async, rpc_sync
from tests.impl import far

SECONDS = float(os.environ.get("FARREF_SOAK_SECONDS", "4"))
NAMES = ["A", "B", "C"]


def settled() -> bool:
    gc.collect()
    return all(rpc_sync(name, far.tables) == (0, 0, 0, 0) for name in NAMES) and get_debug_info().is_empty()


def descriptors(pid: int) -> int:
    return len(list((Path("/proc") / str(pid) / "fd").iterdir()))


def test_random_work_leaves_every_table_empty() -> None:
    with launch(NAMES, allow=["tests.impl.far"], rpc_timeout=30) as world:
        assert settled()
        before = [descriptors(world.pid(name)) for name in NAMES]
        deadline, seed = time.monotonic() + SECONDS, 0
        while time.monotonic() < deadline:
            futures = [rpc_async(NAMES[seed % 3], far.wander, [seed + n, 24, [*NAMES, "driver"], []]) for n in range(4)]
            for future in futures:
                future.wait()
            seed += 4
        del futures, future
        for name in NAMES:
            rpc_sync(name, far.collect)
        until = time.monotonic() + 10
        while not settled():
            assert time.monotonic() < until, [rpc_sync(name, far.tables) for name in NAMES]
            time.sleep(0.05)
        assert [descriptors(world.pid(name)) for name in NAMES] == before
        print(seed, "rounds")
    assert seed > 8
