"""Tell on stderr how far a search is: a live line on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from rich.console import Console

from farref.model.checker.interface import Progress
from farref.properties.protocol import Configuration
from farref.properties.work.units import Workers, in_order
from farref.words import counted

Share = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[Any]]
"""Lets somebody do some work on each of some units, and gives the results in the order of the units."""

PLAIN_SECONDS: Final = 5.0
SPINNER_WIDTH: Final = 2


class Teller:
    """Turns progress into lines: what is searched, how much was seen, how fast, and how long it may still take."""

    def __init__(self, say: Callable[[str], None], configurations: int | None) -> None:
        self.say, self.configurations = say, configurations
        self.begun = 0
        self.name = ""
        self.depth, self.level, self.level_before = 0, 0, 0

    def begin(self, configuration: Configuration) -> Callable[[Progress], None]:
        """Start telling about a configuration."""
        self.begun += 1
        self.name, self.depth, self.level = configuration.name, 0, 0
        return self.tell

    def tell(self, progress: Progress) -> None:
        """Tell where a running search is."""
        if progress.depth != self.depth:
            self.depth, self.level_before, self.level = progress.depth, self.level, progress.frontier
        rate = progress.distinct / progress.seconds if progress.seconds else 0.0
        place = "" if self.configurations is None else f"{self.begun} of {self.configurations}, "
        line = f"{place}{self.name}: {counted(progress.distinct, 'state')}, depth {progress.depth}"
        self.say(f"{line}, {rate:,.0f} states/s{self._eta(progress, rate)}")

    def _eta(self, progress: Progress, rate: float) -> str:
        """Guess the rest once levels shrink: what is left of this one, and a geometric series of smaller ones."""
        if not rate or not 0 < self.level < self.level_before:
            return ""
        shrinks = self.level / self.level_before
        states = progress.frontier + self.level * shrinks / (1 - shrinks)
        return f", about {states / rate:.0f} s left"


@contextmanager
def telling(
    configurations: int | None, *, quiet: bool
) -> Iterator[Callable[[Configuration], Callable[[Progress], None] | None]]:
    """Give the function that is told of each configuration as it begins."""
    if quiet:
        yield lambda _: None
    else:
        with saying(quiet=False) as say:
            yield Teller(say, configurations).begin


@contextmanager
def saying(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give the function that is told in one line, as often as anybody likes, how far something is."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        page = Console(stderr=True)
        with page.status("starting") as status:
            yield lambda line: status.update(line[: page.width - SPINNER_WIDTH])
    else:
        yield _NowAndThen()


def sharing(workers: Workers, noun: str, say: Callable[[str], None]) -> Share:
    """Give the function that lets workers do units, and tells how many are done, how fast, and how long the rest may take."""

    def share(work: Callable[[Any], Any], units: Sequence[Any]) -> Iterator[Any]:
        begin = time.monotonic()
        with closing(in_order(workers, work, units)) as results:
            for done, result in enumerate(results, start=1):
                seconds = max(time.monotonic() - begin, 1e-6)
                rate, left = done / seconds, seconds / done * (len(units) - done)
                hands = f"{rate:,.1f} {noun}s/s on {counted(workers.count, 'worker')}"
                say(f"{done} of {counted(len(units), noun)}, {hands}, about {left:.0f} s left")
                yield result

    return share


class _NowAndThen:
    """Prints a line if the last one is some seconds old, so that a log stays readable."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self.last >= PLAIN_SECONDS:
            self.last = now
            with suppress(OSError):  # whether anybody listens is no matter of the search
                print(line, file=sys.stderr, flush=True)
