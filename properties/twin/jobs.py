"""Work shared out among processes, whose results come back in the order of the work.

Each process gets its pieces through a pipe of its own, in turn, and always has one more piece waiting. So nothing depends on
who is faster, and nobody has to ask who is idle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import chain, cycle, islice
from typing import Any, Final, TypeVar

from farref.properties.processes import Child, ChildEnded, heard, ignore_ctrl_c, put_down, start_children, tell

PIECE: Final = 8
AHEAD: Final = 2
FAREWELL_S: Final = 10.0

Result = TypeVar("Result")
Work = Callable[[Iterable[int]], Iterator[Result]]
"""Turns numbers into results, one by one; it keeps what it needs between two of them."""


def in_order(work: Work[Result], numbers: Iterable[int], jobs: int) -> Generator[Result]:
    """Give the results of some work on each of some numbers, done by several processes, in the order of the numbers."""
    children = start_children(_serve, [(work,)] * jobs, daemon=False)
    try:
        yield from _collect(children, iter(numbers))
    except ChildEnded:
        raise ChildProcessError("a process that took schedules has ended; what it said is above") from None
    finally:
        put_down(children, FAREWELL_S)


def _collect(children: list[Child], numbers: Iterator[int]) -> Iterator[Any]:
    turns, waiting = cycle(children), deque[tuple[Child, int]]()
    while True:
        while len(waiting) < AHEAD * len(children) and (piece := list(islice(numbers, PIECE))):
            child = next(turns)
            child.tell(piece)
            waiting.append((child, len(piece)))
        if not waiting:
            return
        child, length = waiting.popleft()
        for _ in range(length):
            yield child.hear()


def _serve(pipe: Any, work: Work[Any]) -> None:
    """Do the work, in another process."""
    ignore_ctrl_c()  # the parent hangs up
    with suppress(BrokenPipeError, ConnectionResetError):
        for result in work(chain.from_iterable(heard(pipe))):
            tell(pipe, result)
