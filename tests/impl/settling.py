"""Waiting for what must happen soon, and for every table of a world to become empty."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

from farref.impl import get_debug_info, rpc_sync
from tests.impl.far import references as far


def eventually(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something holds; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def is_settled(names: Sequence[str]) -> bool:
    """Say whether every table of the driver and of these workers is empty."""
    gc.collect()
    return get_debug_info().is_empty() and all(rpc_sync(name, far.tables) == (0, 0, 0, 0) for name in names)


def settle(names: Sequence[str]) -> None:
    """Have every worker forget what a test left there; then every table becomes empty."""
    for name in names:
        rpc_sync(name, far.drop)
    try:
        eventually(lambda: is_settled(names))
    except AssertionError:
        left = {name: rpc_sync(name, far.tables) for name in names}
        raise AssertionError(f"tables do not become empty: {left} and here {get_debug_info()}") from None
