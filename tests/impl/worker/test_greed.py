"""A greedy fetcher that stops reading leaves the memory of an owner within the limit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from farref.impl import Limits, launch, remote, rpc_async
from tests.impl.far import greedy
from tests.impl.far import references as far
from tests.impl.settling import eventually
from tests.impl.worker.test_pauses import MEBIBYTE, standing_still

FETCHES: Final = 150
LIMIT: Final = 4 * 2**20


def resident_bytes() -> int:
    """Say how much memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_greedy_fetcher_that_stops_reading_leaves_its_owner_within_the_limit() -> None:
    limits, allowed = Limits(queued_bytes_max=LIMIT), ["tests.impl.far.greedy", "tests.impl.far.references"]
    with launch(["A"], allow=allowed, rpc_timeout=60, shared_bytes_max=0, limits=limits) as world:
        far.hold_back()
        value = remote("driver", far.held_back, [[MEBIBYTE]])  # a list, which is written anew for each fetch
        asking = rpc_async("A", greedy.fetch_often, [value, FETCHES])
        eventually(lambda: len(far.parked_fetches()) == FETCHES)
        with standing_still(world, "A"):
            before = resident_bytes()
            far.release()
            eventually(lambda: sum(far.pressure("A")) > LIMIT and far.pressure("A")[1] > FETCHES // 2)
            assert far.pressure("A")[0] <= LIMIT + 2 * 2**20
            assert resident_bytes() - before < LIMIT + 24 * 2**20, f"{FETCHES} values of a mebibyte would be far more"
        assert asking.wait() == FETCHES * 2**20
