"""How workers find each other: one authenticated stream for each pair, made once, when a world begins.

Workers meet in a directory that only its user can enter. It has the key of the world and everybody's name. Each listens
there: on a Unix socket named by its rank, or on a loopback port written into a file of that name. Each connects to the lower
ranks and accepts the higher ones.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from farref.impl import handshake
from farref.impl.errors import RpcError, RpcTimeout, WireError
from farref.impl.handshake import Identity, Peer
from farref.impl.ids import WorkerId

Transport = Literal["unix", "tcp"]
LOOPBACK: Final = "127.0.0.1"
PAUSE_S: Final = 0.01
BACKLOG: Final = 128
WORLD_BYTES: Final = 16
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where workers meet, how many there are, and until when all of them must be there."""

    directory: Path
    world_size: int
    transport: Transport
    deadline: float


def agree_on_secret(directory: Path) -> tuple[bytes, bytes]:
    """Read the world's id and key from the directory; whoever comes first makes them up."""
    place, draft = directory / "secret", directory / f"secret.{os.getpid()}"
    if not place.exists():
        draft.touch(mode=0o600)
        draft.write_bytes(os.urandom(WORLD_BYTES + KEY_BYTES))
        with suppress(FileExistsError):
            os.link(draft, place)
        draft.unlink()
    secret = place.read_bytes()
    return secret[:WORLD_BYTES], secret[WORLD_BYTES:]


def leave_name(directory: Path, rank: WorkerId, name: str) -> None:
    """Say under what name a rank can be called, before anybody can reach it."""
    (directory / f"{rank}.name").write_text(name)


def names(directory: Path, world_size: int) -> dict[WorkerId, str]:
    """Read everybody's name: whoever has been reached has left it."""
    return {WorkerId(rank): (directory / f"{rank}.name").read_text() for rank in range(world_size)}


def meet(meeting: Meeting, identity: Identity, check: Callable[[], None]) -> dict[WorkerId, socket.socket]:
    """Connect with every other worker. `check` may raise while waiting, to give up."""
    with _listening(meeting, identity.rank) as listener:
        streams: dict[WorkerId, socket.socket] = {}
        for rank in range(identity.rank):
            streams[WorkerId(rank)] = _reach(meeting, WorkerId(rank), identity, check)
        listener.settimeout(0.2)
        while len(streams) < meeting.world_size - 1:
            _still_time(meeting, f"{meeting.world_size - 1 - len(streams)} workers have not come")
            check()
            accepted = _accept(listener, identity)
            if accepted is not None and accepted[0].rank < meeting.world_size:
                streams[accepted[0].rank] = accepted[1]
    return streams


@contextmanager
def _listening(meeting: Meeting, rank: WorkerId) -> Iterator[socket.socket]:
    """Listen while the world comes together. Afterwards nobody can be reached, and the directory serves another meeting."""
    place = meeting.directory / str(rank)
    try:
        listener = _listen(meeting, rank)
    except OSError as error:
        raise RpcError(f"worker {rank} cannot listen at {place}: {error}") from error
    try:
        with listener:
            yield listener
    finally:
        place.unlink(missing_ok=True)


def _listen(meeting: Meeting, rank: WorkerId) -> socket.socket:
    place = meeting.directory / str(rank)
    if meeting.transport == "unix":
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(place))
        listener.listen(BACKLOG)
        return listener
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((LOOPBACK, 0))
    listener.listen(BACKLOG)
    draft = place.with_suffix(".draft")
    draft.write_text(str(listener.getsockname()[1]))
    draft.rename(place)
    return listener


def _reach(meeting: Meeting, rank: WorkerId, identity: Identity, check: Callable[[], None]) -> socket.socket:
    while True:
        _still_time(meeting, f"worker {rank} has not come")
        check()
        try:
            stream = _connect(meeting, meeting.directory / str(rank))
            peer = handshake.connect(stream, identity)
        except (FileNotFoundError, ConnectionRefusedError, ValueError):
            time.sleep(PAUSE_S)
            continue
        if peer.rank != rank:
            raise WireError(f"worker {peer.rank} answers in the place of worker {rank}")
        return stream


def _connect(meeting: Meeting, place: Path) -> socket.socket:
    if meeting.transport == "unix":
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            stream.connect(str(place))
        except OSError:
            stream.close()
            raise
        return stream
    return _quick(socket.create_connection((LOOPBACK, int(place.read_text())), timeout=handshake.DEADLINE_S))


def _accept(listener: socket.socket, identity: Identity) -> tuple[Peer, socket.socket] | None:
    """Take one connection in; a stranger's is closed and forgotten."""
    try:
        stream, _ = listener.accept()
    except TimeoutError:
        return None
    try:
        _same_user(stream)
        return handshake.accept(stream, identity), _quick(stream)
    except (WireError, OSError):
        stream.close()
        return None


def _same_user(stream: socket.socket) -> None:
    if stream.family == socket.AF_UNIX:
        credentials = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", credentials)[1] != os.getuid():
            raise WireError("the other end belongs to another user")


def _quick(stream: socket.socket) -> socket.socket:
    if stream.family == socket.AF_INET:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def _still_time(meeting: Meeting, what: str) -> None:
    if time.monotonic() > meeting.deadline:
        raise RpcTimeout(f"the world did not come together: {what}")
