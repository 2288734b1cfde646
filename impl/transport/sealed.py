"""A TCP stream on this machine, sealed: every record carries a keyed hash (spec/wire.md, Records).

Anybody on a machine can reach a loopback port, and whoever may capture packets may also inject them. The handshake proves who
is at the other end when a stream begins; the seals prove that everything after it still comes from there, unchanged, once and
in order. Nothing of a record is handed on before its seal was checked.

What goes in is a stream of bytes, and what comes out is the same stream: records are no frames, and frames know nothing of
records. So a `SealedStream` stands wherever a socket does. It has the few methods of a socket that a connection uses, and
they mean the same, with one addition: `pending` says that some bytes have been read from the socket and not been asked for.

Each direction has a key of its own and counts its records, and the hash covers both, so that a record can be neither sent
back, nor repeated, nor left out. Its key comes from the nonces of both sides, so it fits no other connection.

The hash is BLAKE2b with a key. HMAC would do as well, but the one of the standard library lets go of the interpreter's lock
for every record, however small, and with several threads getting it back can take longer than the hash.
"""

from __future__ import annotations

import hmac
import socket
import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from farref.impl.errors import WireError

RECORD: Final = struct.Struct("<I16s")
RECORD_BYTES_MAX: Final = 64 * 1024
SEAL_BYTES: Final = 16
PLACE: Final = struct.Struct("<QI")


class SealBroken(WireError):  # noqa: N818
    """What came is not what the other end sent. The stream is of no use any more, which says nothing about the other end."""


def key_for(session: bytes, role: bytes) -> bytes:
    """Derive the key for what one side of a connection sends."""
    return hmac.digest(session, b"records of " + role, "sha256")


def seal(key: bytes, number: int, payload: bytes | memoryview) -> bytes:
    """Compute the seal of a record: over its place in its direction, its length and its bytes."""
    return blake2b(PLACE.pack(number, len(payload)) + payload, digest_size=SEAL_BYTES, key=key).digest()


class SealedStream:
    """A socket that is connected to a peer, with a key for each direction."""

    def __init__(self, stream: socket.socket, sending: bytes, receiving: bytes) -> None:
        self._stream = stream
        self._sending, self._receiving = sending, receiving
        self._sent = self._received = 0
        self._sealed = b""
        self._sealed_bytes = 0
        self._raw = bytearray()
        self._plain = bytearray()

    def fileno(self) -> int:
        """Say which descriptor to watch."""
        return self._stream.fileno()

    def setblocking(self, flag: bool) -> None:
        """Block or not, as a socket."""
        self._stream.setblocking(flag)

    def settimeout(self, seconds: float | None) -> None:
        """Wait up to some seconds, as a socket."""
        self._stream.settimeout(seconds)

    def shutdown(self, how: int) -> None:
        """Let the other end know that nothing more comes, as a socket."""
        self._stream.shutdown(how)

    def close(self) -> None:
        """Hang up."""
        self._stream.close()

    def pending(self) -> int:
        """Say how many bytes can be had without the socket becoming readable again."""
        return len(self._plain)

    # Writing

    def send(self, piece: bytes | memoryview) -> int:
        """Send the beginning of one piece; say how much of it has left."""
        return self.sendmsg((piece,))

    def sendmsg(self, pieces: Sequence[bytes | memoryview]) -> int:
        """Send the beginning of some pieces as one record; say how much of them has left.

        A record that the socket takes only in part is finished by later calls, which begin with the same pieces. Until
        then none of it counts as sent.
        """
        if not self._sealed:
            payload = beginning(pieces, RECORD_BYTES_MAX)
            self._sealed = RECORD.pack(len(payload), seal(self._sending, self._sent, payload)) + payload
            self._sealed_bytes = len(payload)
            self._sent += 1
        while self._sealed:
            self._sealed = self._sealed[self._stream.send(self._sealed) :]
        return self._sealed_bytes

    # Reading

    def recv(self, length: int) -> bytes:
        """Give some bytes whose seals were checked; nothing at the end of the stream."""
        if not self._plain and not self._fill():
            return b""
        data = bytes(memoryview(self._plain)[:length])
        del self._plain[: len(data)]
        return data

    def recv_into(self, buffer: memoryview) -> int:
        """Give some bytes into memory that is there already."""
        data = self.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _fill(self) -> bool:
        """Read until there is a whole record; say whether there is one, as opposed to the end."""
        while not self._plain:
            data = self._stream.recv(RECORD_BYTES_MAX)
            if not data and self._raw:
                raise SealBroken("the stream ends in the middle of a record")
            if not data:
                return False
            self._raw += data
            self._open()
        return True

    def _open(self) -> None:
        start = 0
        while len(self._raw) - start >= RECORD.size:
            length, given = RECORD.unpack_from(self._raw, start)
            if not 0 < length <= RECORD_BYTES_MAX:
                raise SealBroken(f"a record of {length} bytes is not acceptable; the limit is {RECORD_BYTES_MAX}")
            begin, end = start + RECORD.size, start + RECORD.size + length
            if end > len(self._raw):
                break
            payload = bytes(memoryview(self._raw)[begin:end])
            if not hmac.compare_digest(given, seal(self._receiving, self._received, payload)):
                raise SealBroken("a record is not sealed by the other end, or is out of its place")
            self._received += 1
            self._plain += payload
            start = end
        del self._raw[:start]


def beginning(pieces: Sequence[bytes | memoryview], limit: int) -> bytes:
    """Join some pieces, up to so many bytes."""
    taken, room = [], limit
    for piece in pieces:
        taken.append(piece if len(piece) <= room else memoryview(piece)[:room])
        room -= len(taken[-1])
        if not room:
            break
    return b"".join(taken)
