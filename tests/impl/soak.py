"""Random work on three processes and their driver, for as long as one likes.

    python -m tests.impl.soak --minutes 10 --seed 1

Workers create, share, fetch, drop, call each other's methods, fail, time out and send arrays, many at once. Now and then all
of it stops, and then every table of every worker must become empty. At the end no worker may have more file descriptors than
at the beginning. Memory goes up and down with what was just sent, so its average over the pauses of the second half is compared
with that over the first, of which the first tenth does not count.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

from farref.impl import Cluster, launch, rpc_async, rpc_sync
from farref.impl.transport.streams import Transport
from tests.impl.far import references as far
from tests.impl.settling import is_settled

NAMES: Final = ["A", "B", "C"]
AT_ONCE: Final = 4
STEPS: Final = 24
SETTLE_S: Final = 30.0
WARM: Final = 0.1
GROWTH_MIB_MAX, GROWTH_MAX = 3.0, 1.05


@dataclass(slots=True)
class Report:
    """What a soak did, and what was left at each of its pauses."""

    rounds: int = 0
    pauses: int = 0
    descriptors: list[tuple[int, ...]] = field(default_factory=list)
    memory_mib: list[tuple[float, ...]] = field(default_factory=list)
    warm: int = 0
    """The first pause after which memory should not grow."""

    def complaints(self) -> list[str]:
        """Say what grew."""
        found = []
        if self.descriptors[-1] != self.descriptors[0]:
            found.append(f"file descriptors were {self.descriptors[0]} and are {self.descriptors[-1]}")
        for name, early, late in zip((*NAMES, "driver"), *self.averages_mib(), strict=True):
            if late > early * GROWTH_MAX + GROWTH_MIB_MAX:
                found.append(f"memory of {name} was {early:.1f} MiB and is {late:.1f} MiB")
        return found

    def averages_mib(self) -> tuple[list[float], list[float]]:
        """Average the memory of each process over the pauses of the first half, and of the second."""
        counted = self.memory_mib[self.warm :]
        middle = len(counted) // 2
        early, late = counted[:middle], counted[middle:]
        return [fmean(mib) for mib in zip(*early, strict=True)], [fmean(mib) for mib in zip(*late, strict=True)]


Shifts = Iterable[Iterable[object]]
"""Between two pauses is a shift, which has something for each piece of work."""


def lasting(seconds: float, shift_s: float) -> Shifts:
    """Work for some time, in shifts of some time."""
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        yield _until(min(began + shift_s, end))


def _until(moment: float) -> Iterator[None]:
    while time.monotonic() < moment:
        yield


def soak(
    shifts: Shifts,
    seed: int,
    transport: Transport = "unix",
    tell: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Work, with a pause after each shift; raise if something is left at one."""
    report = Report()
    with launch(NAMES, allow=["tests.impl.far.references"], transport=transport, rpc_timeout=60) as world:
        _pause(world, report)
        for shift in shifts:
            for _ in shift:
                _work(seed, report)
            _pause(world, report)
            report.warm = max(1, int(report.pauses * WARM))
            tell(report)
    return report


def _work(seed: int, report: Report) -> None:
    """Let some workers wander at once, from seeds that say what they do."""
    names = [*NAMES, "driver"]
    for number in range(AT_ONCE):
        report.rounds += 1
        arguments = [seed * 1_000_003 + report.rounds, STEPS, names, []]
        future = rpc_async(NAMES[report.rounds % len(NAMES)], far.wander, arguments)
        if number == AT_ONCE - 1:
            future.wait()


def _pause(world: Cluster, report: Report) -> None:
    """Wait until everything is empty, and note what each process has."""
    deadline = time.monotonic() + SETTLE_S
    for name in NAMES:
        rpc_sync(name, far.collect)
    while not is_settled(NAMES):
        for name in NAMES:
            rpc_sync(name, far.collect)
        if time.monotonic() > deadline:
            raise AssertionError(f"tables do not become empty: {[rpc_sync(name, far.tables) for name in NAMES]}")
        time.sleep(0.05)
    gc.collect()
    pids = [world.pid(name) for name in NAMES]
    report.pauses += 1
    report.descriptors.append(tuple(len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids))
    report.memory_mib.append(tuple(_memory_mib(pid) for pid in (*map(str, pids), "self")))


def _memory_mib(pid: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    kibibytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(kibibytes) / 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.impl.soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transport", choices=["unix", "tcp"], default="unix")
    options = parser.parse_args(arguments)

    def tell(report: Report) -> None:
        memory = ", ".join(f"{mib:.1f}" for mib in report.memory_mib[-1])
        print(f"{report.rounds:,} rounds, all empty; MiB {memory}", file=sys.stderr, flush=True)

    try:
        seconds = options.minutes * 60
        report = soak(lasting(seconds, max(2.0, seconds / 20)), options.seed, options.transport, tell)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except AssertionError as found:
        print(f"{found} (seed {options.seed})")
        return 1
    complaints = report.complaints()
    for complaint in complaints:
        print(complaint)
    summary = "something grew" if complaints else "nothing left, nothing grew"
    print(f"{report.rounds:,} rounds of seed {options.seed}, {report.pauses} pauses: {summary}")
    print(f"file descriptors {report.descriptors[0]} and {report.descriptors[-1]}")
    for half, averages in zip(("first", "second"), report.averages_mib(), strict=True):
        print(f"MiB on average in the {half} half: {', '.join(f'{mib:.1f}' for mib in averages)}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
