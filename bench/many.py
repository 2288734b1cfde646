"""What many workers cost on one machine: `python -m bench.many [WORKERS]`, 64 unless given.

It prints how long they take to start and meet, their memory and their CPU time when idle, how long everybody takes to call
everybody, and how long they take to leave, each beside what is aimed at. Memory is PSS: what is shared counts in parts.
CPU time is that of all workers, in percent of one core. Times depend on what else the machine does; CPU time does less.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from farref.impl import Cluster, collect_all, get_worker_info, launch, rpc_async, rpc_sync

WORKERS: Final = 64
IDLE_S: Final = 5.0
SETTLE_S: Final = 2.0
TICKS: Final = os.sysconf("SC_CLK_TCK")
AIMS: Final = {"launch": 5.0, "memory": 40.0, "idle": 5.0, "shutdown": 2.0}


def whoami() -> int:
    """Say which rank this is."""
    return int(get_worker_info().id)


def call_all(names: list[str]) -> int:
    """Call everybody at once; say how many answered rightly."""
    answers = collect_all([rpc_async(name, whoami) for name in names]).wait()
    return sum(answer.wait() == get_worker_info(name).id for name, answer in zip(names, answers, strict=True))


def memory_mb(pid: int) -> float:
    """Say how much memory a process has, with its part of what it shares."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return float("nan")


def cpu_seconds(pids: Iterable[int]) -> float:
    """Say how much CPU time some processes have had."""
    stats = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids)
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / TICKS


def idle_percent(world: Cluster) -> float:
    """Say how much of a core all workers take while nobody calls."""
    pids = [world.pid(name) for name in world.names]
    time.sleep(SETTLE_S)
    before, began = cpu_seconds(pids), time.monotonic()
    time.sleep(IDLE_S)
    return 100 * (cpu_seconds(pids) - before) / (time.monotonic() - began)


def tell(what: str, value: float, unit: str, aim: str | None = None) -> None:
    """Print one figure, and whether it is what was aimed at."""
    verdict = "" if aim is None else f"   at most {AIMS[aim]:g}: {'yes' if value <= AIMS[aim] else 'no'}"
    print(f"{what:34} {value:8.2f} {unit:4}{verdict}", flush=True)


def measure(workers: int) -> bool:
    """Measure one world; say whether every call was answered rightly."""
    began = time.monotonic()
    with launch(workers, allow=["bench.many", "__main__"], init_timeout=120, shutdown_timeout=60) as world:
        tell(f"launch of {workers} workers", time.monotonic() - began, "s", "launch")
        memory = [memory_mb(world.pid(name)) for name in world.names]
        tell("memory of each, at most", max(memory), "MB", "memory")
        tell("idle CPU of all", idle_percent(world), "%", "idle")
        names, began = list(world.names), time.monotonic()
        asked = [rpc_async(name, call_all, [names]) for name in names]
        right = sum(one.wait() for one in asked)
        tell(f"{workers * workers} calls, everybody to everybody", time.monotonic() - began, "s")
        tell("a small call afterwards", small_call_us(names[-1]), "us")
        memory = [memory_mb(world.pid(name)) for name in world.names]
        tell("memory of each after that", max(memory), "MB")
        began = time.monotonic()
    tell("shutdown", time.monotonic() - began, "s", "shutdown")
    print(f"{right} of {workers * workers} answers were right; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return bool(right == workers * workers)


def small_call_us(name: str, calls: int = 200) -> float:
    """Say how long a small call takes, in the middle."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        rpc_sync(name, whoami)
        times.append(time.perf_counter() - began)
    return 1e6 * sorted(times)[calls // 2]


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("workers", nargs="?", type=int, default=WORKERS)
    chosen = parser.parse_args()
    if chosen.workers < 1:
        print("WORKERS is a number, 1 or more", file=sys.stderr)
        return 2
    return 0 if measure(chosen.workers) else 1


if __name__ == "__main__":
    sys.exit(main())
