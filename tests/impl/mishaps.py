"""Signals, forks, threads that cannot be started and descriptors that cannot be had, at random moments of random work.

    python -m tests.impl.mishaps --events 10000 --seed 1

A driver and two workers call, create, share and fetch, and every value is compared. Meanwhile the driver is interrupted, the
workers get signals, stand still and go on, and every process forks and is short of threads or descriptors for a moment. No
value may be wrong and nothing may hang: a watchdog ends a run in which nothing happens for a minute, with all stacks.
At the end every table is empty. A run in which a kind of mishap did not happen is no good run.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from types import FrameType
from typing import Final

import numpy as np

from farref.impl import Cluster, Future, RRef, launch, remote, rpc_async, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.tape import tensor
from tests.impl.far import autograd as far_autograd
from tests.impl.far import mishaps as far_mishaps
from tests.impl.far import references as far
from tests.impl.settling import settle

NAMES: Final = ["A", "B"]
EVERYBODY: Final = ["driver", *NAMES]
MOMENT_S: Final = 0.01
SILENCE_S: Final = 60.0
HARMLESS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGCONT, signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG)
WORKS: Final = 6
KINDS: Final = {"interrupt": 4, "signal": 4, "pause": 1, "fork": 1, "threads": 1, "descriptors": 1}
"""What happens, and how often in comparison."""


class Interrupts:
    """Raises where Python would, but only while armed: outside of a `try` nobody could take it."""

    def __init__(self) -> None:
        self.is_armed = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Do what Python does on Ctrl-C, if armed."""
        if self.is_armed:
            self.is_armed = False
            raise KeyboardInterrupt


class Mishaps:
    """Lets things happen on a thread of its own, until there were enough and enough was done meanwhile."""

    def __init__(self, world: Cluster, seed: int, events: int, kinds: Sequence[str]) -> None:
        self.happened: Counter[str] = Counter()
        self.failed: list[str] = []
        self.done = 0
        """How much work was done."""
        self._world, self._draw, self._events, self._kinds = world, random.Random(seed), events, kinds
        self._doing: list[Future] = []
        self.thread = threading.Thread(target=self._go_on, daemon=True)

    def _go_on(self) -> None:
        try:
            while self.happened.total() < self._events or self.done < self._events // 2:
                time.sleep(self._draw.random() * MOMENT_S / 2)
                kind = self._draw.choices(self._kinds, [KINDS[one] for one in self._kinds])[0]
                self._let(kind)
                self.happened[kind] += 1
        except BaseException as error:
            self.failed.append(f"{type(error).__name__}: {error}")

    def _let(self, kind: str) -> None:
        pid = self._world.pid(self._draw.choice(NAMES))
        moment = self._draw.random() * MOMENT_S
        match kind:
            case "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            case "signal":
                os.kill(pid, self._draw.choice(HARMLESS))
            case "pause":
                os.kill(pid, signal.SIGSTOP)
                time.sleep(moment)
                os.kill(pid, signal.SIGCONT)
            case "fork":
                self._do(far_mishaps.fork)
            case "threads":
                self._do(far_mishaps.start_no_threads, moment)
            case "descriptors":
                self._do(far_mishaps.open_nothing, moment)

    def _do(self, mishap: Callable[..., bool], *arguments: float) -> None:
        """Have a mishap on a worker; on the driver, now and then, here. One at a time, so that none undoes another."""
        name = self._draw.choice(EVERYBODY)
        if not (mishap(*arguments) if name == "driver" else rpc_sync(name, mishap, arguments, timeout=SILENCE_S)):
            self.failed.append(f"{mishap.__name__} on {name}")


def warm_up() -> None:
    """Do everything once, so that every module is there: an import without descriptors would fail, and rightly so."""
    draw = random.Random(0)
    for name, other in permutations(EVERYBODY, 2):
        for kind in range(WORKS):
            work(draw, kind, name, other)


def work(draw: random.Random, kind: int, name: str, other: str) -> None:
    """Do one thing, and compare what comes of it."""
    number = draw.randrange(1_000_000)
    match kind:
        case 0:
            assert rpc_sync(name, far.echo, [number]) == number
        case 1:
            futures = [rpc_async(name, far.add, [number, each]) for each in range(20)]
            assert [future.wait() for future in futures] == [number + each for each in range(20)]
        case 2:
            assert rpc_sync(other, far.fetch, [remote(name, far.echo, [number])]) == number
        case 3:
            assert rpc_sync(name, far.fetch, [RRef(number)]) == number
        case 4:
            differentiate(name, float(number))
        case _:
            array = np.full(draw.randrange(1, 50_000), number)
            assert np.array_equal(rpc_sync(name, far.echo, [array]), array)


def differentiate(name: str, number: float) -> None:
    """Have a gradient come back from another worker."""
    x = tensor([number, 2.0], requires_grad=True)
    with context() as made:
        backward(made, [(rpc_sync(name, far_autograd.double, [x]) * x).sum()])
        assert get_gradients(made)[x].data.tolist() == [4 * number, 8.0]


@contextmanager
def _interrupts() -> Iterator[Interrupts]:
    interrupts = Interrupts()
    before = signal.signal(signal.SIGINT, interrupts)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def campaign(
    events: int,
    seed: int,
    kinds: Sequence[str] = tuple(KINDS),
    tell: Callable[[Counter[str]], None] = lambda _: None,
) -> tuple[Counter[str], int]:
    """Work while mishaps happen; raise if a value is wrong or something is left. Give what happened, and how much was done."""
    felt, draw = 0, random.Random(seed)
    allowed = [far.__name__, far_mishaps.__name__, far_autograd.__name__]
    with launch(NAMES, allow=allowed, rpc_timeout=SILENCE_S) as world, _interrupts() as interrupts:
        mishaps = Mishaps(world, seed, events, kinds)
        warm_up()
        mishaps.thread.start()
        while mishaps.thread.is_alive():
            faulthandler.dump_traceback_later(SILENCE_S * 2, exit=True)
            try:
                interrupts.is_armed = True
                work(draw, draw.randrange(WORKS), *draw.sample(EVERYBODY, 2))
                interrupts.is_armed = False
                mishaps.done += 1
            except KeyboardInterrupt:
                felt += 1
            if mishaps.done % 1000 == 0:
                tell(mishaps.happened)
        faulthandler.cancel_dump_traceback_later()
        assert not mishaps.failed, mishaps.failed
        settle(NAMES)
    mishaps.happened["felt"] = felt
    return mishaps.happened, mishaps.done


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.impl.mishaps", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    options = parser.parse_args(arguments)
    try:
        happened, done = campaign(
            options.events,
            options.seed,
            options.kinds,
            lambda so_far: print(dict(so_far), file=sys.stderr, flush=True),
        )
    except AssertionError as found:
        print(f"{found or 'a value is wrong'} (seed {options.seed})")
        return 1
    print(f"{done:,} pieces of work, every value right, nothing left; seed {options.seed}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(happened.items())))
    missing = [kind for kind in options.kinds if not happened[kind]]
    missing += ["felt"] if "interrupt" in options.kinds and not happened["felt"] else []
    if missing:
        print(f"INCOMPLETE: no {', '.join(missing)}")
    return 3 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
