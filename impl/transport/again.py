"""A stream in the place of one that broke, between two workers that have met (spec/wire.md, Epochs).

The higher rank connects, as it did when they met. It says the number of the new stream and how much it has taken; the other
says how much it has taken, and both go on behind that. The lower rank only knocks: so the other learns that the stream is
broken, and the lower one that it is still heard, or that nobody is there any more.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.messages import Excluded
from farref.impl.errors import WireError
from farref.impl.transport.boards import Book
from farref.impl.transport.doorway import Guest
from farref.impl.transport.frames import HEADER, read_body, read_header, write_plain_frame
from farref.impl.transport.handshake import AGAIN, DEADLINE_S, JOINS, MEETS, Identity, Peer
from farref.impl.transport.joining import read_told
from farref.impl.transport.mesh import Meeting, connect, same_user
from farref.impl.transport.rendezvous import tell_met
from farref.impl.transport.streams import Stream, exactly, introduce

RESUMES: Final = struct.Struct("<QQ")
TAKEN: Final = struct.Struct("<Q")
REFUSED: Final = 2**64 - 1
"""In the place of a count: nothing more is taken from you."""


class Gone(Exception):  # noqa: N818
    """Nobody listens there any more: that life of the worker has ended, or has left."""


class Refused(Exception):  # noqa: N818
    """The worker is there, and takes nothing more from us, because we are excluded (R38)."""

    def __init__(self, told: Excluded) -> None:
        super().__init__(told.reason)
        self.told = told


def reach(meeting: Meeting, identity: Identity, rank: WorkerId, life: Incarnation, epoch: int, taken: int) -> Guest:
    """Connect again with a worker that was met, and say how much was taken; or only knock, if it has a higher rank."""
    try:
        stream = connect(meeting.board.find(rank, life))
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise Gone from error
    ready: Stream = stream
    try:
        peer, ready = introduce(stream, identity, meeting.settings, connecting=True, purpose=AGAIN)
        if (peer.rank, peer.incarnation) != (rank, life):
            raise WireError(f"worker {peer.rank} answers in the place of worker {rank}")
        ready.settimeout(DEADLINE_S)
        ready.send(RESUMES.pack(epoch, taken))
        (theirs,) = TAKEN.unpack(exactly(ready, TAKEN.size))
        if theirs == REFUSED:
            raise Refused(_why(ready))
    except BaseException:
        ready.close()
        raise
    return Guest(peer, ready, epoch, theirs)


def hear(guest: socket.socket, meeting: Meeting, identity: Identity) -> Guest:
    """Hear out a worker that connects again. It is answered later (`answer`), by whoever reads."""
    same_user(guest)
    peer, stream = introduce(guest, identity, meeting.settings, connecting=False)
    try:
        stream.settimeout(DEADLINE_S)
        if peer.purpose == JOINS:
            return _newcomer(peer, stream)
        if peer.purpose == MEETS and isinstance(meeting.board, Book):
            tell_met(peer, stream)
        if peer.purpose != AGAIN:
            raise WireError(f"worker {peer.rank} comes too late to meet")
        epoch, taken = RESUMES.unpack(exactly(stream, RESUMES.size))
    except BaseException:
        stream.close()
        raise
    return Guest(peer, stream, epoch, taken)


def _newcomer(peer: Peer, stream: Stream) -> Guest:
    """Hear the name of somebody who asks to join and, where there is no folder to leave it in, its address."""
    name, _, place = read_told(stream).decode(errors="replace").partition("\n")
    host, _, port = place.partition(" ")
    return Guest(peer, stream, name=name, place=(host, int(port)) if port.isdecimal() else None)


def answer(guest: Guest, taken: int) -> None:
    """Say how much was taken. So few bytes never wait for room in a new stream."""
    guest.stream.send(TAKEN.pack(taken))


def refuse(guest: Guest, view: int, reason: str) -> None:
    """Say that nothing more is taken, and why."""
    guest.stream.send(TAKEN.pack(REFUSED) + write_plain_frame(Excluded(view, reason)))


def _why(stream: Stream) -> Excluded:
    _, length = read_header(exactly(stream, HEADER.size))
    told = read_body(exactly(stream, length))
    if not isinstance(told, Excluded):
        raise WireError("the other end refuses, and does not say why")
    return told
