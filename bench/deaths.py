"""How long it takes until a worker that dies or stands still is noticed, and until what it held is reclaimed.

    python -m bench.deaths

One of two workers holds a reference to a value of the driver. It is killed (kill -9), or stopped for longer than the silence
that is allowed, or for less. Then its links are cut, again and again, while everybody calls. Each line has what was measured,
and what is aimed at. A wrong answer, a lost reference or a worker excluded by mistake ends it with an error.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Final

from farref.impl import Cluster, RRef, get_debug_info, launch, rpc_async, rpc_sync
from farref.impl.transport.streams import Transport
from farref.impl.worker.process import current
from tests.impl.far import cuts as far_cuts
from tests.impl.far import references as far
from tests.impl.settling import eventually, settle

ALLOWED: Final = ("tests.impl.far.references", "tests.impl.far.cuts")
SILENCE_S: Final = 1.0
CALLS_AT_ONCE: Final = 20
LOOK_S: Final = 0.0002


def held_by(name: str) -> RRef:
    """Have a worker hold a reference to a value of this process."""
    rref = RRef("value")
    rpc_sync(name, far.keep, [rref])
    eventually(lambda: [len(entry.forks) for entry in get_debug_info().entries] == [1])
    return rref


def until(holds: Callable[[], bool]) -> float:
    """Wait until something holds; say when that was."""
    while not holds():
        time.sleep(LOOK_S)
    return time.monotonic()


def is_noticed() -> bool:
    """Say whether worker A is taken for dead here."""
    return current().find("A") in current().core.dead


def is_reclaimed() -> bool:
    """Say whether nobody holds the value any more."""
    return [entry.forks for entry in get_debug_info().entries] == [()]


def lose(world: Cluster, by: signal.Signals) -> tuple[float, float]:
    """Kill or stop worker A; say after which time it was noticed, and then after which its reference was reclaimed."""
    rref = held_by("A")
    began = time.monotonic()
    os.kill(world.pid("A"), by)
    noticed = until(is_noticed)
    reclaimed = until(is_reclaimed)
    assert rref.local_value() == "value"
    if by is signal.SIGSTOP:
        os.kill(world.pid("A"), signal.SIGCONT)
        world.processes["A"].join(10)
        assert world.processes["A"].exitcode is not None, "it was let in again"
    world.restart("A")
    assert rpc_sync("A", far.add, [1, 1]) == 2
    del rref
    settle(["A", "B"])
    return noticed - began, reclaimed - noticed


def pause(world: Cluster) -> None:
    """Stop worker A for half of the silence that is allowed: nothing is lost."""
    rref = held_by("A")
    os.kill(world.pid("A"), signal.SIGSTOP)
    answer = rpc_async("A", far.add, [1, 1])
    time.sleep(SILENCE_S / 2)
    os.kill(world.pid("A"), signal.SIGCONT)
    assert answer.wait() == 2
    time.sleep(SILENCE_S)
    assert not is_noticed()
    assert rref.local_value() == "value"
    assert not is_reclaimed()
    rpc_sync("A", far.drop)
    del rref
    settle(["A", "B"])


def cut(times: int, seed: int) -> tuple[int, float]:
    """Cut links of worker A while everybody calls; say how many calls were made, and how long the longest took."""
    draw, number, longest = Random(seed), 0, 0.0
    rref = held_by("A")
    for _ in range(times):
        numbers = range(number, number := number + CALLS_AT_ONCE)
        began = time.monotonic()
        answers = [rpc_async("A", far_cuts.relayed, [one, "B", one]) for one in numbers]
        far_cuts.cut("A", draw.randrange(10**6))
        rpc_sync("A", far_cuts.cut, ["B", draw.randrange(10**6)])
        assert [answer.wait() for answer in answers] == list(numbers)
        longest = max(longest, time.monotonic() - began)
    assert rpc_sync("B", far_cuts.ran) == [(one, 1) for one in range(number)], "a call ran twice, or never"
    assert not is_noticed()
    assert not is_reclaimed()
    rpc_sync("A", far.drop)
    del rref
    settle(["A", "B"])
    return number, longest


def told(values: list[float]) -> str:
    """Write the median and the largest of some times."""
    return f"{statistics.median(values) * 1000:8,.1f} ms, at most {max(values) * 1000:8,.1f} ms"


def measure(transport: Transport, rounds: int, cuts: int, seed: int) -> None:
    """Measure all of it in one world, and print it."""
    with launch(["A", "B"], allow=ALLOWED, transport=transport, silence_seconds=SILENCE_S) as world:
        noticed, reclaimed = zip(*(lose(world, signal.SIGKILL) for _ in range(rounds)), strict=True)
        print(f"killed, noticed after                {told(list(noticed))}   [1,000 ms]")
        print(f"  then what it held is reclaimed in  {told(list(reclaimed))}   [1,000 ms]")
        stopped = [sum(lose(world, signal.SIGSTOP)) for _ in range(max(rounds // 4, 1))]
        print(f"stopped for good, reclaimed after    {told(stopped)}   [{SILENCE_S * 1000 + 2000:,.0f} ms]")
        pause(world)
        print(f"stopped for {SILENCE_S / 2} s: nothing is lost, nobody is excluded")
        calls, longest = cut(cuts, seed)
        print(
            f"{2 * cuts} cuts under load: {calls:,} calls ran once each, nothing lost; {CALLS_AT_ONCE} of them and",
            end=" ",
        )
        print(f"two cuts took {longest * 1000:,.0f} ms at most")


def main() -> None:
    """Measure from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="how often it is killed (default: %(default)s)")
    parser.add_argument(
        "--cuts", type=int, default=100, help="how often each of two links is cut (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transport", choices=["unix", "tcp"], default="unix")
    options = parser.parse_args()
    measure(options.transport, max(options.rounds, 1), max(options.cuts, 1), options.seed)


if __name__ == "__main__":
    main()
