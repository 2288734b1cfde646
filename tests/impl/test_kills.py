"""A worker is killed in the middle of random work: everything ends, and the survivors agree on what is left (R34)."""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from random import Random

import msgspec
import pytest

from farref.impl import PeerDied, RpcError, get_debug_info, launch, rpc_async, rpc_sync
from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import WorkerTables
from tests.impl.far import references as far
from tests.impl.settling import eventually

SURVIVORS = ["A", "B"]
DEAD = WorkerId(3)


def disagreements(worlds: list[WorkerTables]) -> list[object]:
    """List what is under way, and where owners do not count exactly what users hold, apart from the forks of the dead.

    Values that the dead one kept may hold references in their turn, so tables need not be empty.
    """
    found: list[object] = [one for tables in worlds for one in (*tables.parked_calls, *tables.unanswered)]
    for tables in worlds:
        found += [entry for entry in tables.entries if entry.running or entry.waiting or entry.fetches]
        users = [user for user in tables.users if user.owner != DEAD]
        found += [user for user in users if not user.confirmed or user.fetches_waiting]
        found += [user for user in users if any(holder != DEAD for _, holder in user.children)]
    counted = {(fork, holder) for tables in worlds for entry in tables.entries for fork, holder in entry.forks}
    held = {(user.fork, tables.worker) for tables in worlds for user in tables.users if user.owner != DEAD}
    return found + list({one for one in counted if one[1] != DEAD} ^ held)


def settled_disagreements() -> list[object]:
    """What is left of them after some time."""
    deadline = time.monotonic() + 10
    while found := disagreements([get_debug_info(), *map(tables_of, SURVIVORS)]):
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return found


def tables_of(name: str) -> WorkerTables:
    return msgspec.msgpack.decode(rpc_sync(name, far.all_tables), type=WorkerTables)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore:driver could not release everything")
def test_R34_a_kill_in_the_middle_of_random_work(seed: int) -> None:
    random = Random(seed)
    with launch([*SURVIVORS, "C"], allow=["tests.impl.far.references"], rpc_timeout=30, shutdown_timeout=1) as world:
        names = [*SURVIVORS, "C", "driver"]
        futures = [rpc_async(names[n % 3], far.wander, [seed * 100 + n, 40, names, []]) for n in range(9)]
        time.sleep(random.uniform(0.02, 0.3))
        world.kill("C")
        ends = []
        for future in futures:
            with suppress(RpcError):
                future.wait()
            ends.append(future.done())
        assert all(ends)
        with pytest.raises(PeerDied, match="worker C died"):
            rpc_sync("C", far.echo)
        del futures, future
        gc.collect()
        for name in SURVIVORS:
            eventually(lambda name=name: rpc_sync(name, far.dead_workers) == [DEAD])  # type: ignore[misc]
            rpc_sync(name, far.collect)
        assert settled_disagreements() == []
        assert [rpc_sync(name, far.add, [1, 1]) for name in SURVIVORS] == [2, 2]
