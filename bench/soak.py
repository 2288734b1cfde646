"""Random work on a world whose workers are killed, paused and cut off from each other every few seconds.

    python -m bench.soak --minutes 20 --seed 1

Between two faults workers create, share, fetch and drop as in `tests/impl/soak.py`; calls may fail, and must end. Every few
faults all of it stops. Then whoever was excluded is started anew, the application lets go of everything, and every table of
every worker must become empty: what the lost held is reclaimed. The driver lives through all of it. Its memory, objects,
connections, threads and file descriptors must be level: in the last third of the soak as in the middle third (`soak_level.py`).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Final

from bench.soak_level import Sample, complaints, look, table
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
TIDY_S: Final = 0.2
"""A few ticks, in which connections to the dead are closed."""


class Storm:
    """One world, and what was done to it."""

    def __init__(self, world: Cluster, seed: int) -> None:
        self.world, self.random, self.seed = world, Random(seed), seed
        self.faults: Counter[str] = Counter()
        self.rounds = self.excluded = 0
        self.samples: list[Sample] = []

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
        self._revive()
        while not self._is_empty():
            self._revive()  # on a busy machine somebody may be silent for too long at any time
            if time.monotonic() > deadline:
                raise AssertionError(f"tables do not become empty: {self._left()}")
            time.sleep(0.05)
        time.sleep(TIDY_S)
        self.samples.append(look(current()))

    def _revive(self) -> None:
        for name in NAMES:
            if current().find(name) in current().core.dead or self.world.processes[name].exitcode is not None:
                self.excluded += 1
                self.world.restart(name)

    def _is_empty(self) -> bool:
        try:
            for name in NAMES:
                rpc_sync(name, far.drop)
                rpc_sync(name, far.collect)
            return is_settled(NAMES)
        except RpcError:
            return False

    def _left(self) -> object:
        left: dict[str, object] = {"driver": get_debug_info()}
        for name in NAMES:
            try:
                left[name] = rpc_sync(name, far.tables)
            except RpcError as error:
                left[name] = error
        return left


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
            print(f"{told}; {storm.samples[-1]}", file=sys.stderr, flush=True)
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
    except AssertionError as left:
        print(f"{left} (seed {options.seed})")
        return 1
    grown = complaints(storm.samples)
    faults = ", ".join(f"{count} {kind}" for kind, count in sorted(storm.faults.items()))
    print(
        f"{storm.rounds:,} rounds of seed {options.seed}; {faults}; {storm.excluded} workers excluded and started anew"
    )
    print(
        f"at each of {len(storm.samples)} rests every table was empty; of the driver:", *table(storm.samples), sep="\n"
    )
    print("\n".join(grown) or "level")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
