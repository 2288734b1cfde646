"""Send large arrays there and back, and see whether time grows as their size does: `python bench/large.py`.

A worker takes an array and gives it back; both ends are checked by a sum over a part of it. Over Unix sockets an array that
fits into shared memory is a view; `unix, in frames` has none, so that everything goes through the socket, as over TCP. Times
are of one there and back: the best of three, since memory is new the first time. `touch` is how long this machine takes to give
a process as much new memory as both ends take: some virtual machines give it slowly, and what was given back is new again.
`driver` and `worker` are the most memory that either process had beyond what it had before, as a multiple of the array. What
was received is 1; what is on its way is a copy (what a call has taken does not change) and is 1 while it is.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from farref.impl import launch, rpc_sync

MB: Final = 2**20
TRIPS: Final = 3
MEMORY: Final = 4
"""New memory in one there and back, in arrays: each end copies what it sends, and receives one."""
WAYS: Final[dict[str, dict[str, Any]]] = {
    "unix": {"transport": "unix", "shared_bytes_max": 5 * 2**30},
    "unix, in frames": {"transport": "unix", "shared_bytes_max": 0},
    "tcp": {"transport": "tcp", "shared_bytes_max": 0},
}


def echo(array: Any) -> Any:
    """Give back what came."""
    return array


def forget_peak() -> int:
    """Begin to watch the memory of this process anew, and say how many bytes it has now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """Say how many bytes this process has had at most since it was watched."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def touch(megabytes: int) -> float:
    """Take new memory of that size from the system, a page at a time, and say how many seconds it took."""
    start = time.perf_counter()
    np.empty(megabytes * MB, np.uint8)[::4096] = 1
    return time.perf_counter() - start


def round_trip(megabytes: int) -> tuple[float, float, float]:
    """Send an array there and back. Give the seconds, and the peaks of driver and worker as multiples of the array."""
    array = np.arange(megabytes * MB // 8, dtype=np.float64)
    before, before_there = forget_peak(), rpc_sync("worker1", forget_peak)
    start = time.perf_counter()
    back = rpc_sync("worker1", echo, [array])
    seconds = time.perf_counter() - start
    if back.shape != array.shape or back[-1000:].tolist() != array[-1000:].tolist():
        sys.exit(f"{megabytes} MB came back changed")
    there = rpc_sync("worker1", peak) - before_there
    return seconds, (peak() - before) / array.nbytes, there / array.nbytes


def rows(sizes: list[int], ways: list[str]) -> Iterator[str]:
    """Measure, and tell each line as it is known."""
    yield f"{'way':<18}{'MB':>6}{'seconds':>10}{'MB/s':>8}{'touch':>8}{'driver':>9}{'worker':>9}"
    for way in ways:
        for size in sizes:
            with launch(1, allow=[__name__], rpc_timeout=600, frame_bytes_max=2**32 - 1, **WAYS[way]):
                rpc_sync("worker1", echo, [np.zeros(MB)])
                seconds, here, there = zip(*(round_trip(size) for _ in range(TRIPS)), strict=True)
            best, new = min(seconds), touch(MEMORY * size)
            peaks = f"{max(here):>8.1f}x{max(there):>8.1f}x"
            yield f"{way:<18}{size:>6}{best:>10.2f}{2 * size / best:>8.0f}{new:>8.2f}{peaks}"


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[64, 256, 1024, 2048], metavar="MB")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    chosen = parser.parse_args()
    if min(chosen.sizes) < 1 or max(chosen.sizes) > 4000:
        parser.error("a size is from 1 to 4000 MB: a frame is below 4 GiB")
    for row in rows(chosen.sizes, chosen.ways):
        print(row, flush=True)


if __name__ == "__main__":
    main()
