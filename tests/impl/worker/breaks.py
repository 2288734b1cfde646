"""Links between real processes that break at the worst moments, while calls, references and passes go in all directions.

    python -m tests.impl.worker.breaks --cuts 3000 --seed 1 --transport tcp

A driver and three workers call, share, fetch and differentiate on four threads, and every value is compared. Meanwhile links
are cut: in the middle of a frame, at both ends at once, while the next streams shake hands, right after a control message,
for writing only, for several pairs at once, and while one end stands still and as much as may be is written and not taken.
Every call must run once, every gradient be right, nobody be excluded, and every table be empty at the end. A watchdog ends a
run in which no work is done for a minute, and shows both ends of every link.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, get_args

from farref.impl import Cluster, Limits, RpcError, get_debug_info, launch, rpc_async, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.tape import tensor
from farref.impl.transport.streams import Transport
from tests.impl.far import autograd as far_autograd
from tests.impl.far import breaks as far_breaks
from tests.impl.far import cuts as far_cuts
from tests.impl.far import references as far
from tests.impl.mishaps import WORKS, work
from tests.impl.settling import settle

NAMES: Final = ["A", "B", "C"]
EVERYBODY: Final = ["driver", *NAMES]
THREADS: Final = 4
STUCK_S: Final = 60.0
PAUSES_S: Final = (0.0, 0.0, 0.001, 0.005, 0.02, 0.05)
FULL: Final = bytes(400_000)
"""Not an array, which would travel through shared memory."""
STILL_S: Final = 0.1
KINDS: Final = {"within": 6, "both ends": 3, "handshakes": 4, "control": 3, "writing": 3, "everybody": 1, "full": 1}
"""How a link is cut, and how often in comparison."""


@dataclass(slots=True)
class Storm:
    """Work, cuts, and what came of them."""

    world: Cluster
    draw: Random
    cut: Counter[str] = field(default_factory=Counter)
    done: int = 0
    longest_s: float = 0.0
    """The longest that one piece of work has taken."""
    failed: list[str] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    over: threading.Event = field(default_factory=threading.Event)

    def labour(self, first: int) -> None:
        """Work until it is over. Each thread has numbers of its own, and so does each call that is counted."""
        draw, number = Random(self.draw.random() * first), first
        while not self.over.is_set():
            name, other = draw.sample(EVERYBODY, 2)
            number, began = number + 1, time.monotonic()
            try:
                if number % 4 < 2:
                    work(draw, draw.randrange(WORKS), name, other)
                elif number % 4 == 2:
                    _pass_through(draw.choices(NAMES, k=4), float(number % 1000))
                else:
                    self.numbers.add(number)
                    assert rpc_sync(name, far_cuts.relayed, [number, other, number]) == number
            except BaseException as error:
                self.failed.append(f"{type(error).__name__}: {error}")
                self.over.set()
            self.done += 1
            self.longest_s = max(self.longest_s, time.monotonic() - began)

    def break_links(self, cuts: int, kinds: Sequence[str], tell: Callable[[Storm], None]) -> None:
        """Cut so many links."""
        while self.cut.total() < cuts and not self.over.is_set():
            kind = self.draw.choices(kinds, [KINDS[one] for one in kinds])[0]
            here, there = self.draw.sample(EVERYBODY, 2)
            try:
                self._break(kind, here, there)
            except RpcError as error:
                self.failed.append(f"{kind} of {here} and {there}: {error}")
                self.over.set()
            self.cut[kind] += 1
            time.sleep(self.draw.choice(PAUSES_S))
            if self.cut.total() % 250 == 0:
                tell(self)

    def _break(self, kind: str, here: str, there: str) -> None:
        seed = self.draw.randrange(10**6)
        match kind:
            case "within":
                _at(here, far_breaks.within, there, seed)
            case "both ends":
                asked = [_ask(here, far_breaks.end, there), _ask(there, far_breaks.end, here)]
                _await(asked)
            case "handshakes":
                _at(here, far_breaks.in_the_handshakes, there, seed, 1 + seed % 3)
            case "control":
                _at(here, far_breaks.after_control, there)
            case "writing":
                _at(here, far_breaks.stop_writing, there)
            case "everybody":
                _await([_ask(one, far_breaks.end, other) for one in EVERYBODY for other in EVERYBODY if one != other])
            case "full":
                self._break_what_is_full()

    def _break_what_is_full(self) -> None:
        """Cut a link to somebody who stands still, while as much as may be is written to it, and callers wait for room."""
        name = self.draw.choice(NAMES)
        pid = self.world.pid(name)
        os.kill(pid, signal.SIGSTOP)
        threading.Timer(STILL_S / 2, far_breaks.end, [name]).start()
        wake = threading.Timer(STILL_S, os.kill, [pid, signal.SIGCONT])
        wake.start()
        futures = [rpc_async(name, far.size, [FULL]) for _ in range(8)]
        wake.join()
        assert [future.wait() for future in futures] == [len(FULL)] * len(futures)


def _pass_through(path: list[str], number: float) -> None:
    """Have gradients come back along a path of workers."""
    x = tensor([number, 2.0], requires_grad=True)
    with context() as made:
        backward(made, [(rpc_sync(path[0], far_autograd.through, [path[1:], x]) * x).sum()])
        times = 2.0 * 2 ** len(path)
        assert get_gradients(made)[x].data.tolist() == [times * number, times * 2.0]


def _at(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments) if name == "driver" else rpc_sync(name, function, arguments)


def _ask(name: str, function: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:
    """Have something done on a worker, and here at once."""
    if name == "driver":
        return lambda: function(*arguments)
    return rpc_async(name, function, arguments).wait


def _await(asked: list[Callable[[], Any]]) -> None:
    for each in asked:
        each()


def watch(storm: Storm) -> None:
    """End the process if no work is done for long, and show how everybody stands with everybody."""
    done, since = -1, time.monotonic()
    while not storm.over.wait(1.0):
        if storm.done != done:
            done, since = storm.done, time.monotonic()
        elif time.monotonic() - since > STUCK_S:
            print("nothing goes on", far_breaks.links(), get_debug_info(), sep="\n", file=sys.stderr)
            for name in NAMES:
                shown = rpc_async(name, far_breaks.links, timeout=5.0)
                try:
                    print(name, shown.wait(), file=sys.stderr, flush=True)
                except RpcError as error:
                    print(name, error, file=sys.stderr, flush=True)
            os._exit(70)


def campaign(
    cuts: int,
    seed: int,
    transport: Transport = "unix",
    kinds: Sequence[str] = tuple(KINDS),
    tell: Callable[[Storm], None] = lambda _: None,
) -> Storm:
    """Work while links are cut; raise if a value is wrong, a call ran twice, somebody is excluded or something is left."""
    allowed = [one.__name__ for one in (far, far_autograd, far_breaks, far_cuts)]
    far_cuts.RAN.clear()
    limits = Limits(queued_bytes_max=2**20)
    with launch(NAMES, allow=allowed, transport=transport, rpc_timeout=4 * STUCK_S, limits=limits) as world:
        storm = Storm(world, Random(seed))
        threads = [threading.Thread(target=storm.labour, args=[n * 10**9], daemon=True) for n in range(1, THREADS + 1)]
        threads.append(threading.Thread(target=watch, args=[storm], daemon=True))
        for thread in threads:
            thread.start()
        storm.break_links(cuts, kinds, tell)
        storm.over.set()
        for thread in threads:
            thread.join(2 * STUCK_S)
        assert not storm.failed, storm.failed
        assert not any(thread.is_alive() for thread in threads), {one: _at(one, far_breaks.links) for one in EVERYBODY}
        _judge(storm)
    return storm


def _judge(storm: Storm) -> None:
    ran: Counter[int] = Counter()
    for name in EVERYBODY:
        ran.update(dict(map(tuple, _at(name, far_cuts.ran))))
    assert ran == Counter(dict.fromkeys(storm.numbers, 1)), "every call runs once"
    assert [_at(name, far_breaks.dead) for name in EVERYBODY] == [[]] * len(EVERYBODY), "nobody is excluded"
    settle(NAMES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.impl.worker.breaks", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--cuts", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transport", choices=get_args(Transport), default="unix")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help=", ".join(KINDS))
    options = parser.parse_args(arguments)

    def tell(storm: Storm) -> None:
        print(f"{storm.cut.total()} cuts, {storm.done:,} pieces of work", file=sys.stderr, flush=True)

    try:
        storm = campaign(options.cuts, options.seed, options.transport, options.kinds, tell)
    except AssertionError as found:
        print(f"{found or 'a value is wrong'} (seed {options.seed})")
        return 1
    print(f"{storm.done:,} pieces of work, every value right, nothing left; seed {options.seed}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(storm.cut.items())))
    print(f"the longest piece of work took {storm.longest_s:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
