"""Whether a soak is level: what the driver's process has at each rest, its last third against its middle third.

The resident memory of a process goes up and down with what the allocator keeps for later: each thread has free memory of its
own, and a soak has many short threads. What can be given back is given back before the look (`malloc_trim`). What is left free
between things that are in use cannot be, so resident memory may grow by a step after a peak. Two figures are exact, and say
whether something is left over: the live blocks of Python, and the memory that `malloc` has given out (larger things). Memory
that workers share is counted apart.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Final

from farref.impl.worker.worker import Worker


@dataclass(frozen=True, slots=True)
class Sample:
    """What one look found."""

    private_mib: float
    held_mib: float
    shared_mib: float
    in_use_mib: float
    blocks: float
    descriptors: float
    threads: float
    connections: float

    def __str__(self) -> str:
        resident = f"{self.private_mib:.1f} MiB private, {self.held_mib:.1f} held, {self.shared_mib:.1f} shared"
        return f"{resident}; {self.in_use_mib:.1f} in use, {self.blocks:,.0f} blocks"


GROWTH_MAX: Final = Sample(
    private_mib=8.0,
    held_mib=3.0,
    shared_mib=1.0,
    in_use_mib=2.0,
    blocks=5_000.0,
    descriptors=0.0,
    threads=2.0,
    connections=0.0,
)
"""How much more the last third may have than the middle third, on average. A soak of 20 minutes excludes some 150 workers: what
is kept for each for ever, its id, its name and why it was lost, is about 20 blocks."""


def look(worker: Worker) -> Sample:
    """Look at this process, whose worker is at rest."""
    gc.collect()
    private = _mib("RssAnon")
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    return Sample(
        private,
        _mib("RssAnon"),
        _mib("RssShmem"),
        _in_use_mib(),
        sys.getallocatedblocks(),
        len(os.listdir("/proc/self/fd")),
        threading.active_count(),
        len(worker.connections),
    )


def complaints(samples: Sequence[Sample]) -> list[str]:
    """Say what grew. Of a soak with too few looks nothing can be said, and that is said."""
    if len(samples) < 6:
        return [f"{len(samples)} rests are too few to compare a third with another: soak for longer"]
    middle, last = _thirds(samples)
    return [
        f"{name} grew: {before:,.1f} in the middle third, {after:,.1f} in the last"
        for name, before, after, most in zip(NAMES, middle, last, astuple(GROWTH_MAX), strict=True)
        if after - before > most
    ]


def table(samples: Sequence[Sample]) -> Iterator[str]:
    """Show each quantity at the first look, and its averages over the middle third and the last."""
    middle, last = _thirds(samples)
    yield f"{'':14}{'first':>12}{'middle third':>14}{'last third':>12}"
    for name, first, before, after in zip(NAMES, astuple(samples[0]), middle, last, strict=True):
        yield f"{name:14}{first:12,.1f}{before:14,.1f}{after:12,.1f}"


NAMES: Final = tuple(field.name.replace("_mib", ", MiB").replace("_", " ") for field in fields(Sample))


def _thirds(samples: Sequence[Sample]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    third = max(1, len(samples) // 3)
    return _mean(samples[-2 * third : -third] or samples), _mean(samples[-third:])


def _mean(samples: Sequence[Sample]) -> tuple[float, ...]:
    return tuple(fmean(values) for values in zip(*map(astuple, samples), strict=True))


class _Malloc(ctypes.Structure):
    """What `mallinfo2` tells."""

    _fields_ = tuple(
        (name, ctypes.c_size_t) for name in ("arena", "a", "b", "c", "mapped", "d", "e", "used", "free", "f")
    )


def _in_use_mib() -> float:
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:  # another C library, or an old one
        return 0.0
    ask.restype = _Malloc
    told = ask()
    return float(told.used + told.mapped) / 2**20


def _mib(kind: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith(kind))) / 1024
