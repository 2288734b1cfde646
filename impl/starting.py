"""How the processes of workers begin: as forks of a server that has imported what a worker needs.

A fresh interpreter spends a third of a second on imports, a fork of the server a fiftieth. The server begins with the first
world of a process and ends with the process. It has not seen the main module of the program, nor any module of `allow`.

A fork has the surroundings of the server: environment, limits, standard output. Where those of this process have become
others, a fork would be the wrong worker, and fresh interpreters are started.
"""

from __future__ import annotations

import os
import resource
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import multiprocess  # type: ignore[import-untyped]
from multiprocess import forkserver
from multiprocess.connection import wait  # type: ignore[import-untyped]

from farref.impl.prompt import without_main

PRELOADED: Final = "farref.impl.preloaded"
OF_PYTEST: Final = "PYTEST_CURRENT_TEST"
"""Which another program changes all the time, and no worker reads."""
LIMITS: Final = tuple(value for name, value in vars(resource).items() if name.startswith("RLIMIT_"))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process has from the one that began it, as far as it matters to a worker."""

    pid: int
    environment: frozenset[tuple[str, str]]
    outputs: tuple[tuple[int, int] | None, ...]
    limits: tuple[tuple[int, int], ...]
    cores: frozenset[int]

    @classmethod
    def of_this_process(cls) -> Self:
        """Look at those of this process."""
        return cls(
            os.getpid(),
            frozenset((name, value) for name, value in os.environ.items() if name != OF_PYTEST),
            tuple(map(_file_behind, (1, 2))),
            tuple(map(resource.getrlimit, LIMITS)),
            frozenset(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()),
        )


_of_the_server: Surroundings | None = None


def starting() -> Any:
    """Say how processes of workers are started now: a context of `multiprocess`."""
    global _of_the_server
    here = Surroundings.of_this_process()
    if _of_the_server is None:
        _start_server()
        _of_the_server = here
    return multiprocess.get_context("forkserver" if here == _of_the_server else "spawn")


def _start_server() -> None:
    """Start the server, and wait until it has begun its first fork: whoever dies later leaves workers who tidy up."""
    context = multiprocess.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    with without_main():
        first = context.Process(target=int, daemon=True)
        first.start()
    first.join()


def remove_server() -> None:
    """Remove the folder of the server's socket, in a fork of it or in the server. A driver that was killed has not done it."""
    server = getattr(forkserver, "_forkserver", None)
    place = Path(getattr(server, "_forkserver_address", None) or "").parent
    if place.name.startswith("pymp-"):
        shutil.rmtree(place, ignore_errors=True)


def _file_behind(number: int) -> tuple[int, int] | None:
    with suppress(OSError):
        status = os.fstat(number)
        return status.st_dev, status.st_ino
    return None


# In a worker's process


class Driver:
    """The process that began this one. A fork of the server has another parent."""

    def __init__(self, pid: int) -> None:
        self._ends: list[int] = [multiprocess.parent_process().sentinel]
        with suppress(OSError, AttributeError):  # it is gone already, or the system has no such thing
            self._ends.append(os.pidfd_open(pid))

    def is_gone(self, seconds: float | None = 0.0) -> bool:
        """Wait for some time, or without end, until the driver has ended; say whether it has."""
        return bool(wait(self._ends, seconds))
