"""Work shared out among processes, whose results come back in the order of the work.

Each process gets its pieces through a pipe of its own, in turn, and always has one more piece waiting. So nothing depends on
who is faster, and nobody has to ask who is idle. A process ends when its pipe does: with its parent, however that ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import cycle, islice
from typing import Any, Final, TypeVar

import multiprocess  # type: ignore[import-untyped]

from farref.properties.processes import ignore_ctrl_c, undisturbed

PIECE: Final = 8
AHEAD: Final = 2
FAREWELL_S: Final = 10.0

Result = TypeVar("Result")
Work = Callable[[Iterable[int]], Iterator[Result]]
"""Turns numbers into results, one by one; it keeps what it needs between two of them."""


def in_order(work: Work[Result], numbers: Iterable[int], jobs: int) -> Generator[Result]:
    """Give the results of some work on each of some numbers, done by several processes, in the order of the numbers."""
    context = multiprocess.get_context("spawn")
    started: list[tuple[Any, Any]] = []
    try:
        with undisturbed():
            for _ in range(jobs):
                here, there = context.Pipe()
                process = context.Process(target=_serve, args=(there, work), daemon=False)
                process.start()
                there.close()
                started.append((process, here))
        yield from _collect([pipe for _, pipe in started], iter(numbers))
    finally:
        for _, pipe in started:
            pipe.close()
        for process, _ in started:
            process.join(FAREWELL_S)
            process.kill()


def _collect(pipes: list[Any], numbers: Iterator[int]) -> Iterator[Result]:
    turns, waiting = cycle(pipes), deque[tuple[Any, int]]()
    while True:
        while len(waiting) < AHEAD * len(pipes) and (piece := list(islice(numbers, PIECE))):
            pipe = next(turns)
            pipe.send(piece)
            waiting.append((pipe, len(piece)))
        if not waiting:
            return
        pipe, length = waiting.popleft()
        for _ in range(length):
            yield _received(pipe)


def _received(pipe: Any) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        raise ChildProcessError("a process that took schedules has ended; what it said is above") from None


# -- in the other processes --------------------------------------------------------------------------------------------


def _serve(pipe: Any, work: Work[Any]) -> None:
    ignore_ctrl_c()  # the parent hangs up
    with suppress(BrokenPipeError, ConnectionResetError):
        for result in work(_asked(pipe)):
            pipe.send(result)


def _asked(pipe: Any) -> Iterator[int]:
    with suppress(EOFError, ConnectionResetError):
        while True:
            yield from pipe.recv()
