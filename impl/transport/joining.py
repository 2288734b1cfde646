"""To join a world that has met, in the place of a worker that was excluded from it (R44; spec/wire.md, Joining).

Whoever comes asks rank 0, which hosts the authority, in a connection of its own. It is told its worker id, which nobody had
before, the view to begin with, and who the others are. Then it connects with each of them, as after a break.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.core.views import View, ViewNumber
from farref.impl.errors import RpcError, WireError
from farref.impl.transport.doorway import Guest
from farref.impl.transport.handshake import DEADLINE_S, JOINS, Identity
from farref.impl.transport.mesh import Meeting, connect, listen_at, place_of
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


def ask(meeting: Meeting, identity: Identity, name: str) -> Admission | str:
    """Ask to join a world that has met; get an admission, or why there is none."""
    reason = "nobody there decides who joins"
    for place in _hosts(meeting.directory):
        try:
            return _ask(connect(meeting, place), meeting, identity, name)
        except RpcError as error:
            reason = str(error)
        except OSError:
            continue
    return reason


def _ask(stream: socket.socket, meeting: Meeting, identity: Identity, name: str) -> Admission:
    ready: Stream = stream
    try:
        _, ready = introduce(stream, identity, meeting.settings, connecting=True, purpose=JOINS)
        ready.settimeout(DEADLINE_S)
        ready.send(_packed(name.encode()))
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
    guest.stream.send(_packed(told))


def listen_anew(meeting: Meeting, identity: Identity) -> socket.socket:
    """Listen under a worker id that nobody had before."""
    return listen_at(meeting, place_of(meeting.directory, identity.rank, identity.incarnation))


def _hosts(directory: Path) -> Iterator[Path]:
    for place in sorted(directory.glob("0.*")):
        if all(letter in "0123456789abcdef" for letter in place.suffix[1:]):
            yield place


def _packed(told: bytes) -> bytes:
    return LENGTH.pack(len(told)) + told
