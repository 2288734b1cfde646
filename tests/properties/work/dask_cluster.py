"""A Dask cluster for tests: a scheduler and workers, each a process of its own, that talk over TCP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
PATIENCE: Final = 60.0
QUIET: Final = ("--no-dashboard",)


@dataclass
class Running:
    """A cluster that runs."""

    address: str
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]]


@contextmanager
def cluster(
    workers: int,
    folder: Path,
    *,
    host: str = "127.0.0.1",
    scheduled: Sequence[str] = (),
    before: Sequence[str] = (),
    python: Path = ROOT,
) -> Iterator[Running]:
    """Run a scheduler and some workers, which find farref in a folder.

    `scheduled` are the words before the command of the scheduler, `before` those before the commands of workers.
    """
    pytest.importorskip("distributed", reason="Dask is not installed; it comes with the extra [dask]")
    started: list[subprocess.Popen[str]] = []
    file, words = folder / "address.json", ("--host", host, "--port", "0", *QUIET)
    try:
        started.append(_start("scheduler", *words, "--scheduler-file", str(file), folder=folder, before=scheduled))
        address = _address(file, started[0])
        for _ in range(workers):
            started.append(_start("worker", address, *_alone(folder), folder=folder, before=before, python=python))
        yield Running(address, started[0], started[1:])
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def _alone(folder: Path) -> tuple[str, ...]:
    """A worker that nobody starts again, with one thread."""
    return "--nthreads", "1", "--no-nanny", *QUIET, "--local-directory", str(folder)


def _start(
    kind: str, *words: str, folder: Path, before: Sequence[str] = (), python: Path = ROOT
) -> subprocess.Popen[str]:
    command = [*before, sys.executable, "-m", "dask", kind, *words]
    environment = {**os.environ, "PYTHONPATH": str(python)}
    with (folder / f"{kind}.log").open("a") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, text=True, stdout=log, stderr=log)


def _address(file: Path, scheduler: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and scheduler.poll() is None:
        if file.exists() and file.read_text().strip():
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise AssertionError("the scheduler did not start")
