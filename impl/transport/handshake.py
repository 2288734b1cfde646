"""Who is there? Settled before any parsing, with messages of fixed size (spec/wire.md, Handshake).

Each side sends a hello with a fresh nonce at once, so that both can say what does not fit. Then each proves that it knows
the world's key by a keyed hash over its role and both hellos. Roles differ, so a proof cannot be sent back to the one that
made it; nonces are fresh, so it cannot be used again. The accepting side proves itself second: a stranger gets nothing
signed. All of it has one deadline, by the clock that never goes back.
"""

from __future__ import annotations

import hmac
import os
import socket
import struct
import time
from dataclasses import dataclass
from typing import Final

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.errors import Mismatch, WireError

MAGIC: Final = b"farref\r\n"
VERSION: Final = 1
HELLO: Final = struct.Struct("<8sHHIQ16s32s")
PROOF_BYTES: Final = 32
DEADLINE_S: Final = 2.0
CONNECTS, ACCEPTS = b"connects", b"accepts\0"
MEETS, AGAIN, JOINS = range(3)
"""What a connection is for: the first of two workers, another one in its place, or to ask whether one may join."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a worker is in which world, and the key that proves it."""

    rank: WorkerId
    incarnation: Incarnation
    world: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end, proved, and a secret that only this connection has."""

    rank: WorkerId
    incarnation: Incarnation
    session: bytes
    purpose: int = MEETS


def hello(identity: Identity, nonce: bytes, purpose: int = MEETS) -> bytes:
    """Write a hello."""
    return HELLO.pack(MAGIC, VERSION, purpose, identity.rank, identity.incarnation, identity.world, nonce)


def proof(key: bytes, role: bytes, own: bytes, other: bytes) -> bytes:
    """Prove knowledge of the key for this connection only."""
    return hmac.digest(key, role + own + other, "sha256")


def session(key: bytes, connects: bytes, accepts: bytes) -> bytes:
    """Derive a secret of this connection, from which others are derived."""
    return hmac.digest(key, b"session\0" + connects + accepts, "sha256")


def connect(connection: socket.socket, identity: Identity, purpose: int = MEETS) -> Peer:
    """Introduce oneself to a worker that listens."""
    deadline = time.monotonic() + DEADLINE_S
    own, other = _greet(connection, identity, deadline, purpose)
    rank, incarnation, _ = _judge(other, identity)
    connection.sendall(proof(identity.key, CONNECTS, own, other))
    _verify(_receive(connection, PROOF_BYTES, deadline), proof(identity.key, ACCEPTS, other, own))
    connection.settimeout(None)
    return Peer(rank, incarnation, session(identity.key, own, other))


def accept(connection: socket.socket, identity: Identity) -> Peer:
    """Hear a worker that connects, and prove something to it only if it belongs here."""
    deadline = time.monotonic() + DEADLINE_S
    own, other = _greet(connection, identity, deadline, MEETS)
    rank, incarnation, purpose = _judge(other, identity)
    _verify(_receive(connection, PROOF_BYTES, deadline), proof(identity.key, CONNECTS, other, own))
    connection.sendall(proof(identity.key, ACCEPTS, own, other))
    connection.settimeout(None)
    return Peer(rank, incarnation, session(identity.key, other, own), purpose)


def _greet(connection: socket.socket, identity: Identity, deadline: float, purpose: int) -> tuple[bytes, bytes]:
    own = hello(identity, os.urandom(32), purpose)
    connection.sendall(own)
    return own, _receive(connection, HELLO.size, deadline)


def _judge(other: bytes, identity: Identity) -> tuple[WorkerId, Incarnation, int]:
    magic, version, purpose, rank, incarnation, world, _ = HELLO.unpack(other)
    if magic != MAGIC:
        raise Mismatch("the other end does not speak this protocol")
    if version != VERSION:
        raise Mismatch(f"the other end speaks version {version} of the wire, this one version {VERSION}")
    if world != identity.world:
        raise Mismatch(f"the other end belongs to the world {world.hex()}, this one to {identity.world.hex()}")
    return WorkerId(rank), Incarnation(incarnation), purpose


def _verify(given: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(given, expected):
        raise WireError("the other end does not know the key of this world")


def _receive(connection: socket.socket, length: int, deadline: float) -> bytes:
    data = b""
    while len(data) < length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise WireError("the handshake took too long")
        connection.settimeout(left)
        try:
            piece = connection.recv(length - len(data))
        except TimeoutError:
            raise WireError("the handshake took too long") from None
        if not piece:
            raise WireError("the other end hung up during the handshake")
        data += piece
    return data
