"""To join a world that has met, in the place of a worker that was excluded from it (R44; spec/wire.md, Joining).

Whoever comes asks rank 0, which hosts the authority, in a connection of its own. It is told its worker id, which nobody had
before, the view to begin with, and who the others are. Then it connects with each of them, as after a break.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import Final

import msgspec

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.views import View, ViewNumber
from farref.impl.errors import RpcError, WireError
from farref.impl.transport.boards import Address, Endpoint, Folder
from farref.impl.transport.doorway import Guest
from farref.impl.transport.handshake import DEADLINE_S, JOINS, Identity
from farref.impl.transport.mesh import Meeting, connect, listen_at
from farref.impl.transport.streams import Stream, exactly, introduce

LENGTH: Final = struct.Struct("<I")
TOLD_MAX: Final = 2**20


class Admission(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What a worker is told that joins a world."""

    rank: WorkerId
    view: View
    buried: ViewNumber
    names: dict[WorkerId, str]
    lives: dict[WorkerId, Incarnation]
    places: dict[WorkerId, Endpoint]
    """Where everybody listens, if the world met at an address."""


@dataclass(frozen=True, slots=True)
class Joined:
    """An admission, and where this worker listens."""

    admission: Admission
    listener: socket.socket


def join(meeting: Meeting, folder: Folder, identity: Identity, name: str) -> Joined | None:
    """Join a world that has met in a folder, if whoever decides that lets this worker in."""
    for place in folder.hosts():
        try:
            admission = ask(folder.at(place), meeting, identity, name)
        except (RpcError, OSError):
            continue
        own = folder.place_of(admission.rank, identity.incarnation)
        return Joined(admission, listen_at(folder, meeting.settings, own))
    return None


def ask(host: Address, meeting: Meeting, identity: Identity, name: str) -> Admission:
    """Ask to join; raise `RpcError` with what was said if this worker is not let in."""
    ready: Stream = connect(host)
    assert isinstance(ready, socket.socket)
    try:
        _, ready = introduce(ready, identity, meeting.settings, connecting=True, purpose=JOINS)
        ready.settimeout(DEADLINE_S)
        ready.send(packed(name.encode()))
        told = read_told(ready)
    finally:
        ready.close()
    try:
        return msgspec.msgpack.decode(told, type=Admission)
    except msgspec.MsgspecError:
        raise RpcError(told.decode(errors="replace")) from None


def read_told(stream: Stream) -> bytes:
    """Read what has a length in front of it."""
    (length,) = LENGTH.unpack(exactly(stream, LENGTH.size))
    if length > TOLD_MAX:
        raise WireError(f"{length} bytes are too many for joining")
    return exactly(stream, length)


def admit(guest: Guest, admission: Admission | str) -> None:
    """Tell somebody that it may join, or why not."""
    told = admission.encode() if isinstance(admission, str) else msgspec.msgpack.encode(admission)
    guest.stream.send(packed(told))


def packed(told: bytes) -> bytes:
    """Put the length in front of something."""
    return LENGTH.pack(len(told)) + told
