"""Functions of the tests of limits, called on other workers."""

from __future__ import annotations

from farref.impl import RRef, rpc_sync
from farref.impl.api import current
from tests.impl.far.references import release


def fetch_often(rref: RRef, count: int) -> int:
    """Ask for a value many times at once."""
    worker = current()
    futures = [worker.fetch(rref.reference, None) for _ in range(count)]
    return sum(len(future.wait()[0]) for future in futures)


def release_on(to: str) -> None:
    rpc_sync(to, release)
