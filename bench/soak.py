"""Random work on a world whose workers are killed, paused and cut off from each other every few seconds.

    python -m bench.soak --minutes 20 --seed 1

Between two faults workers create, share, fetch and drop as in `tests/impl/soak.py`; calls may fail, and must end. Every few
faults all of it stops. Then whoever was excluded is started anew, the application lets go of everything, and every table of
every worker must become empty: what the lost held is reclaimed. Memory and file descriptors of the driver, which lives through
all of it, must not grow.
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Final

from farref.impl import Cluster, Future, RpcError, get_debug_info, launch, rpc_async, rpc_sync
from farref.impl.transport.streams import Transport
from farref.impl.worker.process import current
from tests.impl.far import cuts as far_cuts
from tests.impl.far import references as far
from tests.impl.settling import is_settled

NAMES: Final = ("A", "B", "C")
ALLOWED: Final = ("tests.impl.far.references", "tests.impl.far.cuts")
SILENCE_S: Final = 2.0
FAULTS_AT_ONCE: Final = 3
SETTLE_S: Final = 30.0
GROWTH_MIB_MAX, GROWTH_MAX = 5.0, 1.1


class Storm:
    """One world, and what was done to it."""

    def __init__(self, world: Cluster, seed: int) -> None:
        self.world, self.random, self.seed = world, Random(seed), seed
        self.faults: Counter[str] = Counter()
        self.rounds = self.excluded = 0
        self.descriptors: list[int] = []
        self.memory_mib: list[float] = []

    def blow(self, seconds: float) -> None:
        """Work while some faults happen, and let everything end."""
        futures: list[Future] = []
        for _ in range(FAULTS_AT_ONCE):
            futures += self._work(seconds)
            self._fault()
        futures += self._work(seconds)
        for future in futures:
            with suppress(RpcError, ValueError):
                future.wait()

    def _work(self, seconds: float) -> list[Future]:
        end, futures = time.monotonic() + seconds, list[Future]()
        while time.monotonic() < end:
            self.rounds += 1
            to = self.random.choice(NAMES)
            with suppress(RpcError):
                arguments = [self.seed * 1_000_003 + self.rounds, 12, [*NAMES, "driver"], []]
                futures.append(rpc_async(to, far.wander, arguments))
            time.sleep(0.02)
        return futures

    def _fault(self) -> None:
        kind, name = self.random.choice(["kill", "pause", "long pause", "cut", "cut"]), self.random.choice(NAMES)
        self.faults[kind] += 1
        match kind:
            case "kill":
                self.world.kill(name)
            case "pause" | "long pause":
                pid = self.world.pid(name)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    time.sleep(SILENCE_S * (0.3 if kind == "pause" else 1.6))
                    os.kill(pid, signal.SIGCONT)
            case _:
                self._cut(name)

    def _cut(self, name: str) -> None:
        other = self.random.choice([one for one in NAMES if one != name] + ["driver"])
        seed = self.random.randrange(10**6)
        with suppress(RpcError):
            if other == "driver":
                far_cuts.cut(name, seed)
            else:
                rpc_sync(name, far_cuts.cut, [other, seed])

    def rest(self) -> None:
        """Start anew whoever is excluded; then nothing may be left anywhere."""
        deadline = time.monotonic() + SETTLE_S
        time.sleep(SILENCE_S / 4)
        for name in NAMES:
            if current().find(name) in current().core.dead or self.world.processes[name].exitcode is not None:
                self.excluded += 1
                self.world.restart(name)
        while not self._is_empty():
            if time.monotonic() > deadline:
                raise AssertionError(f"tables do not become empty: {self._left()}")
            time.sleep(0.05)
        gc.collect()
        self.descriptors.append(len(os.listdir("/proc/self/fd")))
        self.memory_mib.append(_memory_mib())

    def _is_empty(self) -> bool:
        try:
            for name in NAMES:
                rpc_sync(name, far.drop)
                rpc_sync(name, far.collect)
            return is_settled(NAMES)
        except RpcError:
            return False

    def _left(self) -> object:
        return {name: rpc_sync(name, far.tables) for name in NAMES}, get_debug_info()

    def complaints(self) -> list[str]:
        """Say what grew."""
        found, middle = [], len(self.memory_mib) // 2
        early, late = fmean(self.memory_mib[1:middle] or [0.0]), fmean(self.memory_mib[middle:])
        if late > early * GROWTH_MAX + GROWTH_MIB_MAX:
            found.append(f"memory was {early:.1f} MiB and is {late:.1f} MiB")
        if max(self.descriptors[middle:]) > max(self.descriptors[:middle]):
            found.append(f"file descriptors were {self.descriptors[:middle]} and are {self.descriptors[middle:]}")
        return found


def _memory_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) / 1024


def soak(seconds: float, seed: int, transport: Transport, calm_s: float = 1.0) -> Storm:
    """Blow for some time; raise if something is left after any of it."""
    end = time.monotonic() + seconds
    with launch(
        NAMES, allow=ALLOWED, transport=transport, rpc_timeout=20, silence_seconds=SILENCE_S, shutdown_timeout=5
    ) as world:
        storm = Storm(world, seed)
        storm.rest()
        while time.monotonic() < end:
            storm.blow(calm_s)
            storm.rest()
            told = f"{storm.rounds:,} rounds, {storm.faults.total()} faults, {storm.excluded} excluded, all empty"
            print(f"{told}; MiB {storm.memory_mib[-1]:.1f}", file=sys.stderr, flush=True)
    return storm


def main() -> int:
    """Soak from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transport", choices=["unix", "tcp"], default="unix")
    options = parser.parse_args()
    try:
        storm = soak(options.minutes * 60, options.seed, options.transport)
    except AssertionError as found:
        print(f"{found} (seed {options.seed})")
        return 1
    complaints = storm.complaints()
    print("\n".join(complaints) or "nothing left, nothing grew")
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(storm.faults.items()))
    print(
        f"{storm.rounds:,} rounds of seed {options.seed}; {faults}; {storm.excluded} workers excluded and started anew"
    )
    print(
        f"file descriptors of the driver: {storm.descriptors[0]} at the beginning, {storm.descriptors[-1]} at the end"
    )
    print(f"its memory: {storm.memory_mib[0]:.1f} MiB and {storm.memory_mib[-1]:.1f} MiB")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
