"""Futures, with the names of `torch.futures`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from farref.impl.worker.futures import Future

__all__ = ["Future", "collect_all", "wait_all"]


def collect_all(futures: Iterable[Future]) -> Future[list[Future]]:
    """Give a future that is done when all of some futures are. Its value is a list of them; their first error is its error."""
    given = list(futures)
    gathered: Future[None] = Future(what="all of some futures")
    waiting = set(range(len(given)))

    def settle(position: int) -> Callable[[], None]:
        def settle_one() -> None:
            waiting.discard(position)
            if not waiting:  # two threads may find so at once: the first of them is heard
                gathered.offer_result(None)

        return settle_one

    for position, future in enumerate(given):
        future.call_when_done(settle(position))
    if not given:
        gathered.offer_result(None)
    return gathered.then(lambda _: [_without_error(future) for future in given])


def wait_all(futures: Iterable[Future]) -> list[Any]:
    """Wait for all of some futures, and list their values; raise the first error if there is one."""
    return [future.wait() for future in collect_all(futures).wait()]


def _without_error(future: Future) -> Future:
    future.value()
    return future
