"""How workers meet without a folder: at an address, where rank 0 listens (spec/wire.md, Meeting at an address).

Everybody else connects there, and the handshake is that of all streams. Each says how large a world it expects, its name, and
where it listens itself. When all have come, rank 0 gives everybody the book of names and addresses, and the others connect with
each other as they do in a folder. The stream to rank 0 stays, as the first between the two. Whoever comes when the world has
met is told so, and asks to join (`joining.py`). What the others do is in `visiting.py`.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from farref.impl.core.ids import WorkerId
from farref.impl.errors import Mismatch, RpcError, WireError
from farref.impl.settings import Tls
from farref.impl.transport.boards import Book, Endpoint, listen
from farref.impl.transport.doorway import Doorway, Guest
from farref.impl.transport.handshake import DEADLINE_S, MEETS, Identity, Peer
from farref.impl.transport.joining import packed, read_told
from farref.impl.transport.mesh import Meeting, Met, still_time
from farref.impl.transport.streams import Stream, introduce

KEY: Final = "FARREF_KEY"
KEY_LEAST: Final = 16
ZERO: Final = WorkerId(0)

Check = Callable[[], None]


class Entry(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a worker says of itself."""

    size: int
    name: str
    host: str
    port: int


class Listing(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What rank 0 says when all have come."""

    names: dict[WorkerId, str]
    places: dict[WorkerId, Endpoint]


Answer = Listing | str | None
"""The book, or why this worker cannot meet, or nothing: the world has met, and it may ask to join."""


def shared_secret(key: str | None, tls: Tls | None) -> bytes:
    """Find what the secret of a world comes from: a key that all were given; without one, the authority of all certificates."""
    given = key if key is not None else os.environ.get(KEY, "")
    if given and len(given) < KEY_LEAST:
        raise RpcError(f"a key has {KEY_LEAST} characters or more, and this one has {len(given)} (key=, {KEY})")
    if not given and tls is None:
        raise RpcError(
            f"whoever meets at an address needs a key (key=, {KEY}), or certificates (Settings.tls), or both"
        )
    return given.encode() if tls is None or given else Path(tls.authority).read_bytes()


def host(meeting: Meeting, book: Book, identity: Identity, name: str, check: Check) -> Met:
    """Listen at the address until all have come, and give everybody the book."""
    try:
        listener = listen((_resolved(book.endpoint), book.endpoint[1]))
    except OSError as error:
        raise RpcError(f"worker 0 cannot listen at {spelled(book.endpoint)}: {error}") from error
    book.enter(ZERO, name, book.endpoint)
    party = _Party(meeting, book)
    door = Doorway(listener, lambda guest: party.hear(guest, identity))
    try:
        while len(party.met) < meeting.world_size - 1:
            still_time(meeting, f"{meeting.world_size - 1 - len(party.met)} workers have not come{party.last}")
            check()
            if (admitted := door.admit()) is not None:
                party.judge(admitted)
        party.tell_all()
    except BaseException:
        listener.close()
        for _, stream in party.met.values():
            stream.close()
        raise
    finally:
        door.close()
    lives = {rank: peer.incarnation for rank, (peer, _) in party.met.items()}
    return Met({rank: stream for rank, (_, stream) in party.met.items()}, lives, listener)


@dataclass(slots=True)
class _Party:
    """Who has come to rank 0."""

    meeting: Meeting
    book: Book
    met: dict[WorkerId, tuple[Peer, Stream]] = field(default_factory=dict)
    last: str = ""
    """The last that was refused, for whoever waits in vain."""

    def hear(self, guest: socket.socket, identity: Identity) -> Guest:
        """Hear one out, on a thread of its own."""
        try:
            peer, stream = introduce(guest, identity, self.meeting.settings, connecting=False)
        except Mismatch:
            self.last = "; at last: somebody came with another key"
            raise
        except ssl.SSLError as error:
            self.last = f"; at last: somebody came without a certificate of the authority ({error.reason})"
            raise
        if peer.purpose != MEETS:
            stream.close()
            raise WireError(f"worker {peer.rank} takes this world for one that has met")
        return _read_entry(peer, stream)

    def judge(self, guest: Guest) -> None:
        """Take somebody in, or tell it why not."""
        if objection := self._objection(guest):
            self.last = f"; at last: {objection}"
            _tell(guest.stream, objection)
            guest.stream.close()
            return
        rank = guest.peer.rank
        if rank in self.met:
            self.met[rank][1].close()
        self.met[rank] = guest.peer, guest.stream
        self.book.enter(rank, guest.name, guest.place)

    def _objection(self, guest: Guest) -> str | None:
        rank, size = guest.peer.rank, self.meeting.world_size
        if guest.size != size:
            return f"{guest.name} (rank {rank}) expects a world of {guest.size}, and worker 0 one of {size}"
        if not 0 < rank < size:
            return f"rank {rank} is taken by {self.book.name_of(ZERO)}"
        if rank in self.met:
            peer, stream = self.met[rank]
            if peer.incarnation != guest.peer.incarnation and not _has_ended(stream):
                return f"rank {rank} is taken by {self.book.name_of(rank)}"
        return None

    def tell_all(self) -> None:
        """Give everybody the book. Whoever has ended meanwhile is found dead soon."""
        for _, stream in self.met.values():
            _tell(stream, Listing(self.book.names, self.book.places))
            stream.settimeout(None)


def tell_met(peer: Peer, stream: Stream) -> NoReturn:
    """Tell somebody that comes to meet that the world has met."""
    _read_entry(peer, stream)
    _tell(stream, None)
    stream.close()
    raise WireError(f"worker {peer.rank} comes too late to meet, and may join")


def _read_entry(peer: Peer, stream: Stream) -> Guest:
    try:
        stream.settimeout(DEADLINE_S)
        entry = msgspec.msgpack.decode(read_told(stream), type=Entry)
    except msgspec.MsgspecError as error:
        stream.close()
        raise WireError(f"worker {peer.rank} does not say who it is: {error}") from error
    except BaseException:
        stream.close()
        raise
    return Guest(peer, stream, name=entry.name, place=(entry.host, entry.port), size=entry.size)


def _tell(stream: Stream, answer: Answer) -> None:
    """Say something whole; whoever has ended hears nothing."""
    told = packed(msgspec.msgpack.encode(answer))
    try:
        while told:
            told = told[stream.send(told) :]
    except OSError:
        pass


def _has_ended(stream: Stream) -> bool:
    """Say whether the other end of a stream has closed it."""
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLRDHUP)
    return bool(poll.poll(0))


def _resolved(endpoint: Endpoint) -> str:
    """Find the address of a host."""
    try:
        return str(socket.getaddrinfo(*endpoint, type=socket.SOCK_STREAM)[0][4][0])
    except socket.gaierror as error:
        raise RpcError(f"the host of {spelled(endpoint)} is unknown: {error.strerror}") from error


def spelled(endpoint: Endpoint) -> str:
    """Write an address as it is given."""
    host, port = endpoint
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"
