"""Hostile frames by the million against everything that reads bytes of a peer.

    python -m tests.impl.transport.decoder_campaign --frames 1000000 --seed 1

Each frame goes to one of three places. The *open* worker has no seals, so that damage reaches its decoder and its core: it may
take the frame for a message, or hang up, and nothing else; no function is found for any of it. It is in a backward pass, so
there is something to disturb. The *sealed* stream must hand on nothing of a record that was touched. The *handshake* must
refuse everything. No frame may take longer than a few seconds, and memory must not grow. What went wrong is told with the
number of its frame, which the same seed makes again.
"""

from __future__ import annotations

import argparse
import resource
import select
import signal
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any, Final

from farref.impl.core.core import Core
from farref.impl.errors import WireError
from farref.impl.settings import FRAME_BYTES_MAX, Settings
from farref.impl.transport.handshake import HELLO, Identity, accept, hello
from farref.impl.transport.sealed import RECORD, SealedStream, seal
from farref.impl.worker.connection import Connection
from farref.impl.worker.worker import Worker
from tests.impl.transport import hostile_autograd
from tests.impl.transport.hostile import DAMAGES, LIFE, PEER, VICTIM, flipped, frame

BATCH: Final = 1000
SECONDS_FOR_A_BATCH: Final = 60
GROWTH_MAX_MIB: Final = 48
OURS, THEIRS = b"1" * 32, b"2" * 32


class FoundError(AssertionError):
    """Something that must not happen did."""


class OpenWorker:
    """A worker whose peer's bytes come as they are. Functions that it would run are run at once, if it finds any."""

    def __init__(self) -> None:
        self.poller = select.epoll()
        self.found: list[str] = []
        self.worker = self._begin()

    def _begin(self) -> Worker:
        self._engaged = False
        core = Core(VICTIM, [VICTIM, PEER], hostile_autograd.VICTIMS_LIFE)
        worker = Worker(core, {VICTIM: "victim", PEER: "peer"}, {}, Settings())
        self._plain = worker.functions.resolve
        worker.functions.resolve = self._resolve  # type: ignore[method-assign]
        return worker

    def _resolve(self, name: str) -> Any:
        target = self._plain(name)
        self.found.append(name)
        return target

    def feed(self, data: bytes) -> str:
        """Send bytes and hang up; say whether the worker took a message in them, refused them, or waits for more."""
        if self._has_lost():
            self._end()
            self.worker = self._begin()
        ours, theirs = socket.socketpair()
        connection = Connection(theirs, PEER, self.poller, FRAME_BYTES_MAX)
        self.worker.connections[PEER] = connection
        try:
            if not self._engaged:
                hostile_autograd.engage(self.worker)
                self._engaged = True
                self._work()
            ours.sendall(data)
            taken = self._read(connection)
            return "taken" if taken else "waits for more"
        except WireError:
            return "refused"
        except ConnectionAbortedError:
            return "ends the stream"  # it was a HungUp
        except ConnectionResetError:
            if not connection.dead:
                raise
            return "ends the stream"  # the worker hung up after a frame, and what follows is cut
        finally:
            connection.outbox.clear()
            connection.close()
            ours.close()

    def _read(self, connection: Connection) -> int:
        taken = 0
        for body, segments in connection.frames():
            self.worker.intake.take(PEER, body, segments)
            taken += 1
            self._work()
            arrivals = self.worker.arrivals
            while arrivals.put_off:
                arrivals.let_in(*arrivals.put_off.popleft())
        return taken

    def _work(self) -> None:
        while self.worker.reactor.tasks:
            self.worker.reactor.tasks.popleft()()

    def _has_lost(self) -> bool:
        """Say whether what came has ended the worker's pass, or told it that its peer is dead. Then there is less to harm."""
        core = self.worker.core
        return PEER in core.dead or (self._engaged and not core.engine.passes)

    def close(self) -> None:
        """Give everything back."""
        self._end()
        self.poller.close()

    def _end(self) -> None:
        self.worker.connections.clear()
        self.worker.close()


def try_sealed(random: Random, data: bytes) -> str:
    """Touch one of several records; nothing from there on may come out."""
    payloads = [data, frame(random), b"more"]
    records = [RECORD.pack(len(p), seal(THEIRS, n, p)) + p for n, p in enumerate(payloads)]
    touched = random.randrange(len(records))
    records[touched] = flipped(random, records[touched]) if random.random() < 0.7 else random.randbytes(40)
    good = b"".join(payloads[:touched])
    untouched_after_all = (
        records[touched]
        == RECORD.pack(len(payloads[touched]), seal(THEIRS, touched, payloads[touched])) + payloads[touched]
    )
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"".join(records))
        ours.close()
        stream, came = SealedStream(theirs, OURS, THEIRS), b""
        try:
            while piece := stream.recv(100_000):
                came += piece
        except WireError:
            if not good.startswith(came):
                raise FoundError("a record that was touched came out") from None
            return "refused"
    if not untouched_after_all:
        raise FoundError("a record that was touched came out")
    return "taken"


def try_handshake(random: Random) -> str:
    """Introduce oneself badly."""
    who = Identity(PEER, LIFE, b"w" * 16, b"k" * 32)
    good = hello(who, random.randbytes(32)) + random.randbytes(32)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(random.choice([good, flipped(random, good), random.randbytes(HELLO.size + 32), good[:50]]))
        ours.shutdown(socket.SHUT_WR)
        try:
            accept(theirs, Identity(VICTIM, LIFE, b"w" * 16, b"k" * 32))
        except WireError:
            return "refused"
    raise FoundError("a stranger was let in")


def memory_mib() -> float:
    """Say how much memory this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def campaign(frames: int, seed: int, tell: Any = lambda *_: None) -> Counter[str]:
    """Try so many frames; count what became of them, or raise `FoundError`."""
    counts: Counter[str] = Counter()
    start = 0.0
    before = signal.signal(signal.SIGALRM, _too_slow)
    try:
        for first in range(0, frames, BATCH):
            signal.alarm(SECONDS_FOR_A_BATCH)
            _batch(first, min(first + BATCH, frames), seed, counts)
            start = start or memory_mib()
            tell(min(first + BATCH, frames), counts)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if memory_mib() - start > GROWTH_MAX_MIB:
        raise FoundError(f"memory grew from {start:.0f} to {memory_mib():.0f} MiB")
    return counts


def _batch(first: int, end: int, seed: int, counts: Counter[str]) -> None:
    """Try some frames on one worker."""
    victim = OpenWorker()
    for number in range(first, end):
        try:
            counts[one(Random(f"{seed}.{number}"), victim)] += 1
        except Exception as error:
            raise FoundError(f"frame {number} of seed {seed}: {error!r}") from error
    if victim.found:
        raise FoundError(f"the function {victim.found[0]} ran for a frame of seed {seed} from {first} on")
    victim.close()


def _too_slow(*_: object) -> None:
    raise FoundError(f"{BATCH} frames took longer than {SECONDS_FOR_A_BATCH} s")


def one(random: Random, victim: OpenWorker) -> str:
    """Try one frame, and say where it went and what became of it."""
    place = random.random()
    if place < 0.05:
        return f"handshake, {try_handshake(random)}"
    data = frame(random)
    if place < 0.25:
        return f"sealed, {try_sealed(random, data)}"
    damage = random.choice(DAMAGES)
    return f"open, {damage.__name__}, {victim.feed(damage(random, data))}"


def main() -> int:
    """Run a campaign from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.impl.transport.decoder_campaign", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()

    def tell(done: int, _: object) -> None:
        if sys.stderr.isatty() or done % 100_000 == 0:
            rate = done / (time.monotonic() - began)
            left = (options.frames - done) / rate
            print(f"{done:,} of {options.frames:,} frames, {rate:,.0f}/s, {left:.0f} s to go", file=sys.stderr)

    try:
        counts = campaign(options.frames, options.seed, tell)
    except FoundError as found:
        print(found)
        return 1
    for outcome, count in sorted(counts.items()):
        print(f"{count:>9,}  {outcome}")
    print(f"{sum(counts.values()):,} frames of seed {options.seed}, at most {memory_mib():.0f} MiB: nothing found")
    return 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)
