"""What is measured of an RPC library, written once for both: farref has PyTorch's names, so a job takes either as `rpc`.

A job returns figures by name. It runs on the worker `driver`; the others are called B and C. Jobs last about a second, so
that a round of both sides fits into a stretch of time over which a noisy machine changes little.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, Protocol

Figures = dict[str, float]
LIVE: Final = 20_000
SECONDS: Final = 1.0


class Rpc(Protocol):
    """What a job needs of a library: PyTorch's functions, and three things that have no common name."""

    rpc_sync: Callable[..., Any]
    rpc_async: Callable[..., Any]
    remote: Callable[..., Any]
    array: Callable[[int], Any]
    """Make a float32 array of that many bytes."""
    owned: Callable[[], int]
    """Count the RRefs that this process owns; called by name on another worker."""
    pids: tuple[int, ...]
    """Every process of the world."""


# What is called on other workers


def add(a: Any, b: Any) -> Any:
    """Do almost nothing."""
    return a + b


def echo(value: Any) -> Any:
    """Give back what came."""
    return value


def take(_: Any) -> None:
    """Receive a reference and drop it."""


def fetch(rref: Any) -> Any:
    """Receive a reference and ask for its value."""
    return rref.to_here()


def resident() -> int:
    """Say how many bytes of memory this process has."""
    return int((Path("/proc/self/statm")).read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def owned_by_farref() -> int:
    """Count the RRefs that this farref worker owns."""
    from farref.impl.api import current

    worker = current()
    with worker.lock:
        worker.perform([])
        return len(worker.core.owner.entries)


def owned_by_torch() -> int:
    """Count the RRefs that this PyTorch worker owns."""
    from torch.distributed.rpc import _rref_context_get_debug_info

    return int(_rref_context_get_debug_info()["num_owner_rrefs"])


# Jobs


def small_call(rpc: Rpc) -> Figures:
    """a: one caller, one call at a time."""
    for _ in range(50):
        rpc.rpc_sync("B", add, args=(1, 2))
    return _percentiles(lambda: rpc.rpc_sync("B", add, args=(1, 2)))


def in_flight(rpc: Rpc, window: int) -> float:
    """b: calls kept under way, so many at a time; calls a second."""
    return _rate_in_flight(window, lambda: rpc.rpc_async("B", add, args=(1, 2)))


def echo_array(rpc: Rpc, size: int) -> float:
    """c: an array there and back; bytes a second, both directions added."""
    array = rpc.array(size)
    for _ in range(3):
        rpc.rpc_sync("B", echo, args=(array,))
    return 2 * size * _rate(lambda: rpc.rpc_sync("B", echo, args=(array,)))


def rref_cycle(rpc: Rpc) -> float:
    """d: create, fetch, delete; cycles a second."""
    return _rate(lambda: rpc.remote("B", echo, args=(1,)).to_here())


def confirmed_creations(rpc: Rpc) -> Figures:
    """d: create many, until the owner has confirmed all; then delete them, until it has forgotten all. Each a second."""
    count = 2000
    began = time.perf_counter()
    rrefs = [rpc.remote("B", echo, args=(1,)) for _ in range(count)]
    _wait_for_confirmation(rrefs)
    confirmed = time.perf_counter()
    rrefs.clear()
    _wait_until_owned(rpc, 0)
    return {
        "d creations confirmed/s": count / (confirmed - began),
        "d deletions settled/s": count / (time.perf_counter() - confirmed),
    }


def live_memory(rpc: Rpc) -> Figures:
    """d: bytes that a live RRef takes, on its owner and on its user."""
    _wait_for_confirmation([rpc.remote("B", echo, args=(1,)) for _ in range(200)])
    _wait_until_owned(rpc, 0)
    owner, user = rpc.rpc_sync("B", resident), resident()
    rrefs = [rpc.remote("B", echo, args=(1,)) for _ in range(LIVE)]
    _wait_for_confirmation(rrefs)
    owner, user = rpc.rpc_sync("B", resident) - owner, resident() - user
    rrefs.clear()
    _wait_until_owned(rpc, 0)
    return {"m bytes on owner": owner / LIVE, "m bytes on user": user / LIVE, "m bytes": (owner + user) / LIVE}


def shares(rpc: Rpc) -> Figures:
    """e: a reference passed on, from user to user and from owner to user."""
    theirs, own = rpc.remote("B", echo, args=(1,)), rpc.remote("driver", echo, args=(1,))
    theirs.to_here(), own.to_here()
    return {
        "e user to user, p50 us": _percentiles(lambda: rpc.rpc_sync("C", take, args=(theirs,)))["p50"],
        "e user to user, then fetch, p50 us": _percentiles(lambda: rpc.rpc_sync("C", fetch, args=(theirs,)))["p50"],
        "e owner to user, p50 us": _percentiles(lambda: rpc.rpc_sync("C", take, args=(own,)))["p50"],
        "e user to user, 64 in flight/s": _rate_in_flight(64, lambda: rpc.rpc_async("C", take, args=(theirs,))),
    }


def idle(rpc: Rpc) -> Figures:
    """Idle: the share of a core that a process of the world takes when nothing happens."""
    time.sleep(0.5)
    before, began = sum(map(_cpu_seconds, rpc.pids)), time.perf_counter()
    time.sleep(2 * SECONDS)
    spent = sum(map(_cpu_seconds, rpc.pids)) - before
    return {"idle cores/process": spent / (time.perf_counter() - began) / len(rpc.pids)}


JOBS: Final[dict[str, Callable[[Rpc], Figures]]] = {
    "a": lambda rpc: {f"a call, {name} us": value for name, value in small_call(rpc).items()},
    "b": lambda rpc: {f"b {window} in flight/s": in_flight(rpc, window) for window in (64, 1024)},
    "c": lambda rpc: {
        f"c echo {name}, MB/s": echo_array(rpc, size) / 1e6
        for name, size in (("4 KB", 4_000), ("1 MB", 1_000_000), ("64 MB", 64_000_000))
    },
    "d": lambda rpc: {"d cycles/s": rref_cycle(rpc), **confirmed_creations(rpc)},
    "m": live_memory,
    "e": shares,
    "idle": idle,
}


# Beneath


def _clock(once: Callable[[], object]) -> Iterator[float]:
    """Do something again and again for a second, at least three times; say how long each took."""
    deadline, done = time.perf_counter() + SECONDS, 0
    while done < 3 or time.perf_counter() < deadline:
        began = time.perf_counter()
        once()
        yield time.perf_counter() - began
        done += 1


def _rate(once: Callable[[], object]) -> float:
    times = list(_clock(once))
    return len(times) / sum(times)


def _percentiles(once: Callable[[], object]) -> Figures:
    times = sorted(_clock(once))
    return {"p50": times[len(times) // 2] * 1e6, "p99": times[len(times) * 99 // 100] * 1e6}


def _rate_in_flight(window: int, begin: Callable[[], Any]) -> float:
    under_way = deque(begin() for _ in range(window))
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        for _ in range(window):
            under_way.popleft().wait()
            under_way.append(begin())
        done += window
    rate = done / (time.perf_counter() - began)
    for future in under_way:
        future.wait()
    return rate


def _wait_for_confirmation(rrefs: list[Any]) -> None:
    for rref in rrefs:
        while not rref.confirmed_by_owner():
            time.sleep(0.0005)


def _wait_until_owned(rpc: Rpc, count: int) -> None:
    while rpc.rpc_sync("B", rpc.owned) != count:
        time.sleep(0.0005)


def _cpu_seconds(pid: int) -> float:
    fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
