"""How workers meet: one authenticated stream for each pair, made when a world begins.

In a folder that only its user can enter there is the key of the world and everybody's name. Each listens there: on a Unix
socket named by its rank, or on a TCP port written into a file of that name. Each connects to the lower ranks and accepts the
higher ones. When all have met, that name goes, so that the folder serves another meeting; under a name of its own life each
listens on, for streams that take the place of broken ones (`again.py`). How workers meet without a folder is in
`rendezvous.py`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import Mismatch, RpcError, RpcTimeout, WireError
from farref.impl.settings import Settings
from farref.impl.transport import handshake
from farref.impl.transport.boards import BACKLOG, KEY_BYTES, WORLD_BYTES, Address, Book, Folder, listen
from farref.impl.transport.doorway import Doorway, Guest
from farref.impl.transport.handshake import MEETS, Identity, Peer
from farref.impl.transport.lives import CREDENTIALS, Life
from farref.impl.transport.streams import Stream, introduce
from farref.impl.values.arena import Arena, Window

PAUSE_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where workers meet, how many there are, and until when all of them must be there."""

    board: Folder | Book
    world_size: int
    settings: Settings
    deadline: float


def agree_on_secret(directory: Path) -> tuple[bytes, bytes]:
    """Read the world's id and key from the directory; whoever comes first makes them up."""
    place, draft = directory / "secret", directory / f"secret.{os.urandom(8).hex()}"
    if not place.exists():
        draft.touch(mode=0o600)
        draft.write_bytes(os.urandom(WORLD_BYTES + KEY_BYTES))
        with suppress(FileExistsError):
            os.link(draft, place)
        draft.unlink()
    secret = place.read_bytes()
    return secret[:WORLD_BYTES], secret[WORLD_BYTES:]


@dataclass(frozen=True, slots=True)
class Met:
    """The streams to everybody else, which life each is in, and where this worker listens on."""

    streams: dict[WorkerId, Stream]
    lives: dict[WorkerId, Incarnation]
    listener: socket.socket


def meet(meeting: Meeting, folder: Folder, identity: Identity, check: Callable[[], None]) -> Met:
    """Connect with every other worker in a folder. `check` may raise, to give up."""
    with _listening(folder, meeting.settings, identity) as listener:
        return gather(meeting, identity, listener, {}, lambda rank: folder.at(folder.path / str(rank)), check)


def gather(
    meeting: Meeting,
    identity: Identity,
    listener: socket.socket,
    met: dict[WorkerId, tuple[Peer, Stream]],
    find: Callable[[WorkerId], Address],
    check: Callable[[], None],
) -> Met:
    """Connect with every worker that was not met yet: to the lower ranks, and let the higher ones in."""
    try:
        for rank in map(WorkerId, range(identity.rank)):
            if rank not in met:
                met[rank] = _reach(meeting, rank, identity, find, check)
        _await_others(meeting, identity, listener, met, check)
    except BaseException:
        for _, stream in met.values():
            stream.close()
        raise
    lives = {rank: peer.incarnation for rank, (peer, _) in met.items()}
    return Met({rank: stream for rank, (_, stream) in met.items()}, lives, listener)


def _await_others(
    meeting: Meeting,
    identity: Identity,
    listener: socket.socket,
    met: dict[WorkerId, tuple[Peer, Stream]],
    check: Callable[[], None],
) -> None:
    """Take the higher ranks in. One that comes twice lost its first stream on the way: the last one counts."""
    door = Doorway(listener, lambda guest: _hear(guest, meeting, identity))
    try:
        while len(met) < meeting.world_size - 1:
            still_time(meeting, f"{meeting.world_size - 1 - len(met)} workers have not come")
            check()
            admitted = door.admit()
            if admitted is not None:
                rank = admitted.peer.rank
                if rank in met:
                    met[rank][1].close()
                met[rank] = admitted.peer, admitted.stream
    finally:
        door.close()


def _hear(guest: socket.socket, meeting: Meeting, identity: Identity) -> Guest:
    same_user(guest)
    peer, stream = introduce(guest, identity, meeting.settings, connecting=False)
    if peer.purpose != MEETS or not identity.rank < peer.rank < meeting.world_size:
        raise WireError(f"worker {peer.rank} does not connect to worker {identity.rank} in this world")
    return Guest(peer, stream)


@contextmanager
def _listening(folder: Folder, settings: Settings, identity: Identity) -> Iterator[socket.socket]:
    """Listen, while the world comes together, where nobody else meets. Afterwards only those who have met know the place."""
    place = folder.path / str(identity.rank)
    own = folder.place_of(identity.rank, identity.incarnation)
    try:
        listener = _listen(folder, settings, place, own)
    except OSError as error:
        raise RpcError(f"worker {identity.rank} cannot listen at {place}: {error}") from error
    try:
        yield listener
    except BaseException:
        listener.close()
        own.unlink(missing_ok=True)
        raise
    finally:
        place.unlink(missing_ok=True)


def share_memory(streams: dict[WorkerId, Stream], meeting: Meeting) -> tuple[Arena | None, dict[WorkerId, Window]]:
    """Make this worker's arena, if it is to have one, and get a window into that of every peer (spec/wire.md)."""
    size = meeting.settings.shared_bytes_max
    plain = {peer: stream for peer, stream in streams.items() if isinstance(stream, socket.socket)}
    has_arena = isinstance(meeting.board, Folder) and meeting.board.transport == "unix" and size
    arena = Arena(size, {peer: Life(stream) for peer, stream in plain.items()}) if has_arena else None
    theirs = swap_memory(streams, None if arena is None else arena.descriptor, meeting.deadline)
    return arena, {peer: Window(descriptor) for peer, descriptor in theirs.items()}


def swap_memory(streams: dict[WorkerId, Stream], descriptor: int | None, deadline: float) -> dict[WorkerId, int]:
    """Give every peer the descriptor of this worker's memory, and take theirs; a byte says whether there is one.

    Only over Unix sockets, which are the streams that are plain sockets.
    """
    plain = {peer: stream for peer, stream in streams.items() if isinstance(stream, socket.socket)}
    for stream in plain.values():
        socket.send_fds(stream, [b"\0" if descriptor is None else b"\1"], [] if descriptor is None else [descriptor])
    taken: dict[WorkerId, int] = {}
    for peer, stream in plain.items():
        stream.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            announced, found, _, _ = socket.recv_fds(stream, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except TimeoutError:
            raise RpcTimeout(f"the world did not come together: worker {peer} is silent") from None
        if announced != (b"\1" if found else b"\0"):
            raise WireError(f"worker {peer} left before the world came together")
        taken.update((peer, each) for each in found)
    return taken


def _listen(folder: Folder, settings: Settings, place: Path, own: Path) -> socket.socket:
    if folder.transport == "unix":
        listener = listen_at(folder, settings, place)
        os.link(place, own)
        return listener
    listener = listen_at(folder, settings, own)
    draft = place.with_suffix(".draft")
    draft.write_text(own.read_text())
    draft.rename(place)
    return listener


def listen_at(folder: Folder, settings: Settings, place: Path) -> socket.socket:
    """Listen at a place where nobody else does."""
    if folder.transport == "unix":
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(place))
        listener.listen(BACKLOG)
        return listener
    listener = listen((settings.address, 0))
    draft = place.with_suffix(".place")
    draft.write_text(f"{settings.address} {listener.getsockname()[1]}")
    draft.rename(place)
    return listener


def _reach(
    meeting: Meeting,
    rank: WorkerId,
    identity: Identity,
    find: Callable[[WorkerId], Address],
    check: Callable[[], None],
) -> tuple[Peer, Stream]:
    """Knock at a worker until it lets us in. Only what does not fit ends it: all else may be better the next time."""
    last: Exception | str = "it does not listen"
    while True:
        still_time(meeting, f"worker {rank} has not come; at last: {last}")
        check()
        try:
            stream = connect(find(rank))
        except (WireError, OSError, ValueError) as error:
            last = error
            time.sleep(PAUSE_S)
            continue
        try:
            peer, ready = introduce(stream, identity, meeting.settings, connecting=True)
        except Mismatch:
            stream.close()
            raise
        except (WireError, OSError) as error:
            last = error
            stream.close()
            time.sleep(PAUSE_S)
            continue
        if peer.rank != rank:
            ready.close()
            raise WireError(f"worker {peer.rank} answers in the place of worker {rank}")
        return peer, ready


def connect(address: Address) -> socket.socket:
    """Connect with whoever listens at an address."""
    if not isinstance(address, Path):
        return socket.create_connection(address, timeout=handshake.DEADLINE_S)
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.connect(str(address))
        same_user(stream)
    except (WireError, OSError):
        stream.close()
        raise
    return stream


def same_user(stream: socket.socket) -> None:
    """Refuse a socket of another user, where the kernel says whose it is."""
    if stream.family == socket.AF_UNIX:
        credentials = stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
        if CREDENTIALS.unpack(credentials)[1] != os.getuid():
            raise WireError("the other end belongs to another user")


def still_time(meeting: Meeting, what: str) -> None:
    """Give up if the time to meet is over, and say what was waited for."""
    if time.monotonic() > meeting.deadline:
        raise RpcTimeout(f"the world did not come together: {what}")
