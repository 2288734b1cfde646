"""Measure farref against PyTorch, job by job, in one run: `python bench/rpc.py`.

In each round every job is done by farref and then by PyTorch, each in a world of real processes. A ratio is taken inside a
round, where both had the same machine, and the table has the median over the rounds: read the ratios, not the figures.
Worlds that are not measured are stopped, because an idle PyTorch worker polls and would take a part of a core from farref.

PyTorch has its best settings: the default transport, and for arrays the better of that and its other one. It is optional
here; get the version these figures are about with `pip install '.[torch]'`.

jobs:
  a     one small call after another: half of them, and 99 of 100, are faster than this
  b     calls kept in flight, 64 and 1024 of them
  c     echo of a float32 array, which arrives as a view of shared memory, or as a copy of it (copies)
  d     RRefs: create, fetch and delete; creations until all are confirmed; deletions until all are settled
  m     memory that a live RRef takes, of 20,000; each round in worlds of its own
  e     an RRef shared from user to user, and from owner to user
  idle  the share of a core that a process takes when nothing happens
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
WORKERS: Final = {"a": 2, "b": 2, "c": 2, "d": 2, "m": 2, "e": 3, "idle": 2}
KINDS: Final = {"c": ("farref", "farref-copies", "torch", "torch-uv")}
AIMS: Final = {
    "a call, p50 us": 12.0,
    "a call, p99 us": 4.0,
    "b 64 in flight/s": 12.0,
    "b 1024 in flight/s": 10.0,
    "c echo 1 MB, MB/s": 3.0,
    "c echo 64 MB, MB/s": 3.0,
    "c echo 1 MB, MB/s (copies)": 2.0,
    "c echo 64 MB, MB/s (copies)": 2.0,
    "d cycles/s": 5.0,
    "d creations confirmed/s": 5.0,
    "m bytes": 2.0,
    "e user to user, p50 us": 3.5,
    "e user to user, then fetch, p50 us": 3.5,
    "e owner to user, p50 us": 3.0,
    "e user to user, 64 in flight/s": 3.0,
}
"""How many times better than PyTorch farref wants to be."""

Figures = dict[str, float]
Round = dict[str, tuple[float, float | None]]
"""One round: for each figure farref's, and PyTorch's if it is there."""
Row = dict[str, str | float | None]
"""What is said of one figure, over all rounds."""


class World:
    """A world of one library, in a process group of its own, which does one job at a time."""

    def __init__(self, kind: str, workers: int) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "bench.rpc_worlds", kind, str(workers)]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._answer()
        self._signal(signal.SIGSTOP)

    def measure(self, job: str) -> Figures:
        """Do a job; all processes of this world are stopped before and after."""
        assert self._process.stdin is not None
        self._signal(signal.SIGCONT)
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        figures: Figures = json.loads(self._answer())
        self._signal(signal.SIGSTOP)
        return figures

    def close(self) -> None:
        """End the world, gently if it can be."""
        self._signal(signal.SIGCONT)
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            sys.exit("a world ended before its time; what it said is above")

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("a world ended before its time; what it said is above")
        return line


class Worlds:
    """Worlds by kind and number of workers, each started when it is first needed."""

    def __init__(self) -> None:
        self._started: dict[tuple[str, int], World] = {}

    def measure(self, kind: str, job: str) -> Figures:
        """Do a job in the world for it. Memory is measured in a world where nothing has happened yet."""
        place = (kind, WORKERS[job])
        if job == "m":
            self.close(place)
        if place not in self._started:
            self._started[place] = World(kind, WORKERS[job])
        return self._started[place].measure(job)

    def close(self, *places: tuple[str, int]) -> None:
        """End some worlds, or all."""
        for place in places or tuple(self._started):
            if place in self._started:
                self._started.pop(place).close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default=",".join(WORKERS), help="which, separated by commas (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each job is done (default: %(default)s)")
    parser.add_argument("--loaded", action="store_true", help="keep every core busy with something else meanwhile")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="(default: %(default)s)")
    asked = parser.parse_args(arguments)
    jobs = asked.jobs.split(",")
    unknown = [job for job in jobs if job not in WORKERS]
    if unknown or asked.rounds < 1:
        there = (
            f"there is no job {unknown[0]!r}; there are {', '.join(WORKERS)}" if unknown else "--rounds is at least 1"
        )
        print(f"bench/rpc.py: {there}", file=sys.stderr)
        return 2
    has_torch = importlib.util.find_spec("torch") is not None
    if not has_torch:
        print("torch is not installed: only farref is measured (pip install '.[torch]')", file=sys.stderr)
    with load(asked.loaded):
        rounds = _rounds(jobs, asked.rounds, has_torch)
    rows = [row(name, rounds) for name in rounds[0]]
    print(json.dumps(rows, indent=1) if asked.format == "json" else table(rows))
    return 0


def _rounds(jobs: list[str], count: int, has_torch: bool) -> list[Round]:
    worlds, rounds = Worlds(), [Round() for _ in range(count)]
    try:
        for number, figures in enumerate(rounds, 1):
            for job in jobs:
                print(f"round {number} of {count}, job {job} ...", file=sys.stderr, flush=True)
                figures |= compare(worlds, job, has_torch)
    finally:
        worlds.close()
    return rounds


def compare(worlds: Worlds, job: str, has_torch: bool = True) -> Round:
    """Do one job on both sides; where PyTorch has two ways, the better one counts."""
    kinds = [kind for kind in KINDS.get(job, ("farref", "torch")) if has_torch or kind.startswith("farref")]
    measured = {kind: worlds.measure(kind, job) for kind in kinds}
    peers = [figures for kind, figures in measured.items() if kind.startswith("torch")]
    best = {name: max(peer[name] for peer in peers) for name in measured["farref"]} if peers else {}
    compared: Round = {name: (value, best.get(name)) for name, value in measured["farref"].items()}
    for name, value in measured.get("farref-copies", {}).items():
        compared[f"{name} (copies)"] = (value, best.get(name))
    return compared


def row(name: str, rounds: list[Round], aims: Mapping[str, float] = AIMS) -> Row:
    """Put together what is said of one figure."""
    pairs = [figures[name] for figures in rounds]
    theirs = [other for _, other in pairs if other is not None]
    ratios = [_ratio(name, own, other) for own, other in pairs if other is not None and not name.startswith("idle")]
    return {
        "figure": name,
        "farref": statistics.median(own for own, _ in pairs),
        "torch": statistics.median(theirs) if theirs else None,
        "times better": statistics.median(ratios) if ratios else None,
        "lowest": min(ratios, default=None),
        "highest": max(ratios, default=None),
        "aim": aims.get(name),
    }


def _ratio(name: str, own: float, other: float) -> float:
    """Say how many times better farref is: what is counted per second should be large, all else small."""
    return own / other if "/s" in name else other / own


def table(rows: list[Row]) -> str:
    """Lay rows out."""
    lines = [f"{'':<38}{'farref':>12}{'torch':>12}{'times better':>14}{'(range)':>16}{'aim':>6}"]
    for row in rows:
        name, own, other, ratio, lowest, highest, aim = row.values()
        span = f"({_short(lowest)} to {_short(highest)})" if ratio is not None else ""
        wanted = "" if aim is None else f"{aim:g}"
        lines.append(f"{name:<38}{_short(own):>12}{_short(other):>12}{_short(ratio):>14}{span:>16}{wanted:>6}")
    return "\n".join(lines)


def _short(value: str | float | None) -> str:
    if not isinstance(value, float):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@contextmanager
def load(wanted: bool) -> Iterator[None]:
    """Keep every core busy, if wanted."""
    count = (os.cpu_count() or 1) if wanted else 0
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
