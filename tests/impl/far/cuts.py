"""Functions that must run once each, and a way to cut the link to another worker, for tests of streams that break."""

from __future__ import annotations

import os
import socket
from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any, Final

from farref.impl import RRef, get_worker_info, remote, rpc_sync
from farref.impl.core.ids import WorkerId
from farref.impl.transport.sealed import SealedStream
from farref.impl.worker.process import current

RAN: Final[Counter[int]] = Counter()
KEPT: Final[dict[int, RRef]] = {}


class Cutting:
    """A socket that ends in the middle of what is written, after so many bytes more."""

    def __init__(self, stream: socket.socket, left: int) -> None:
        self._stream, self._left = stream, left

    def send(self, piece: bytes | memoryview) -> int:
        if not self._left:
            raise BrokenPipeError
        sent = self._stream.send(memoryview(piece)[: self._left])
        self._left -= sent
        if not self._left:
            with suppress(OSError):
                self._stream.shutdown(socket.SHUT_RDWR)
        return sent

    def sendmsg(self, pieces: Any) -> int:
        return self.send(b"".join(pieces))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def cut(to: str, seed: int) -> None:
    """Cut the stream to a worker: at once, or after some more bytes."""
    random, connection = Random(seed), current().connections[get_worker_info(to).id]
    if connection.broken:
        return
    stream, after = connection.stream, random.choice([0, 1, 7, 8, 9, 100, 1000, 70_000])
    if after and isinstance(stream, socket.socket):
        connection.stream = Cutting(stream, after)  # type: ignore[assignment]
    elif after and isinstance(stream, SealedStream):
        stream._stream = Cutting(stream._stream, after)  # type: ignore[assignment]
    else:
        with suppress(OSError), socket.socket(fileno=os.dup(stream.fileno())) as other:
            other.shutdown(socket.SHUT_RDWR)


def once(number: int, value: Any = None) -> Any:
    """Note that this call has run."""
    RAN[number] += 1
    return value


def relayed(number: int, to: str, value: Any = None) -> Any:
    """Have somebody else run a call."""
    return rpc_sync(to, once, [number, value])


def keep(number: int, rref: RRef) -> None:
    """Keep a reference, and use it."""
    RAN[number] += 1
    KEPT[number] = rref


def values() -> list[int]:
    """Fetch everything that is kept, and let it go."""
    found = [KEPT[number].to_here() for number in sorted(KEPT)]
    KEPT.clear()
    return found


def make_for(number: int, owner: str, holder: str) -> None:
    """Create something on a worker, and have another one keep it."""
    rpc_sync(holder, keep, [number, remote(owner, once, [-1, number])])


def ran() -> list[tuple[int, int]]:
    """Say how often each call has run here."""
    return sorted(RAN.items())


def why_dead(rank: int) -> str:
    """Say what is told of a worker that is dead here."""
    return current().core.dead[WorkerId(rank)]


def epochs() -> dict[str, int]:
    """Say how many streams there have been to each peer, beyond the first."""
    worker = current()
    return {worker.names[peer]: connection.epoch for peer, connection in worker.connections.items()}
