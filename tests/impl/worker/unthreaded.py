"""Two workers without threads: a test lets each of them read, and runs what is to be run."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from farref.impl import Limits, Settings
from farref.impl.core.core import Core
from farref.impl.core.ids import WorkerId
from farref.impl.core.observe import observe
from farref.impl.worker.connection import LATER
from farref.impl.worker.futures import Future
from farref.impl.worker.worker import Worker
from tests.impl.far import references as far

A, B = WorkerId(0), WorkerId(1)
NAMES: Final = {A: "A", B: "B"}

Pair = tuple[Worker, Worker]
Make = Callable[..., Pair]


@contextmanager
def making() -> Iterator[Make]:
    """Make two workers without threads, each with limits of its own."""
    made: list[Worker] = []

    def make_pair(ours: Limits | None = None, theirs: Limits | None = None, *more_modules: str) -> Pair:
        streams = dict(zip((B, A), socket.socketpair(), strict=True))
        for me, peer, limits in ((A, B, ours), (B, A, theirs)):
            settings = Settings(allowed_modules=(far.__name__, *more_modules), limits=limits or Limits())
            made.append(Worker(Core(me, NAMES), NAMES, {peer: streams[peer]}, settings))
        return made[0], made[1]

    yield make_pair
    for worker in made:
        worker.released = True
        worker.close()


def do_tasks(worker: Worker) -> None:
    """Run what is to be run."""
    while worker.reactor.tasks:
        worker.reactor.tasks.popleft()()


def turn(worker: Worker) -> None:
    """Let a worker read, run what is to be run, and write what does not wait."""
    worker.intake.turn(0.0)
    do_tasks(worker)
    worker.flush()


def read(worker: Worker) -> None:
    worker.intake._next_tick = 0.0
    worker.intake.turn(0.0)
    worker.flush(LATER)


def run(worker: Worker) -> None:
    """Let a worker read, run what is to be run, and write everything."""
    read(worker)
    do_tasks(worker)
    worker.flush(LATER)


def exchange(a: Worker, b: Worker) -> None:
    """Let a worker say what it has to say, the other do what it is asked for, and the first hear of it."""
    a.flush(LATER)
    run(b)
    read(a)


def settle(*workers: Worker) -> None:
    """Let workers talk until nothing is left in their tables."""
    for _ in range(50):
        for worker in workers:
            run(worker)
    assert all(observe(worker.core).is_empty() for worker in workers)


def outcome(future: Future[Any]) -> Any:
    assert future.done()
    return future.wait()
