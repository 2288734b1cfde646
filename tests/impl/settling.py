"""Waiting for what must happen soon, and for every table of a world to become empty."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

import msgspec

from farref.impl import PeerDied, get_debug_info, rpc_sync
from farref.impl.core.observe import WorkerTables
from farref.properties.proof.link.rest import broken_at_rest
from tests.impl.far import references as far


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something holds; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def is_settled(names: Sequence[str]) -> bool:
    """Say whether every table of the driver and of these workers is empty."""
    gc.collect()
    return get_debug_info().is_empty() and all(rpc_sync(name, far.tables) == (0, 0, 0, 0) for name in names)


def pid_of(name: str) -> int | None:
    """Say in which process a worker is; none while the last one that had the name is dead."""
    try:
        return int(rpc_sync(name, far.pid))
    except PeerDied:
        return None


def all_tables(names: Sequence[str]) -> list[WorkerTables]:
    """Show the tables of the driver and of these workers."""
    shown = (rpc_sync(name, far.all_tables) for name in names)
    return [get_debug_info(), *(msgspec.msgpack.decode(one, type=WorkerTables) for one in shown)]


def rests(names: Sequence[str]) -> bool:
    """Say whether nobody waits for an answer, and the tables are as the proof says that they are at rest."""
    tables = all_tables(names)
    return not any(one.unanswered for one in tables) and not broken_at_rest(tables)


def settle(names: Sequence[str]) -> None:
    """Have every worker forget what a test left there; then every table becomes empty.

    Before that, whatever the test has left is as it must be at rest.
    """
    eventually(lambda: rests(names))
    for name in names:
        rpc_sync(name, far.drop)
    try:
        eventually(lambda: is_settled(names))
    except AssertionError:
        left = {name: rpc_sync(name, far.tables) for name in names}
        raise AssertionError(f"tables do not become empty: {left} and here {get_debug_info()}") from None
