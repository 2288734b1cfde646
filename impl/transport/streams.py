"""What a connection may run over: a Unix socket as it is, a TCP socket with seals, or TLS. Which of them is decided here.

A Unix socket is left as it is. It lies in a directory that only its user can enter, both ends have seen that the other is
the same user, and the kernel carries the bytes: whoever could change them could as well change this process.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import replace
from functools import partial
from typing import get_args

from farref.impl.errors import RpcError, WireError
from farref.impl.settings import Settings
from farref.impl.transport import handshake, tls
from farref.impl.transport.boards import Transport as Transport
from farref.impl.transport.handshake import ACCEPTS, CONNECTS, Identity, Peer
from farref.impl.transport.sealed import SealedStream, key_for
from farref.impl.transport.tls import TlsStream

Stream = socket.socket | SealedStream | TlsStream


def check_transport(transport: Transport, settings: Settings) -> None:
    """Refuse to listen where other machines can knock, unless with TLS; and certificates that are of no use."""
    if transport not in get_args(Transport):
        raise RpcError(f"transport is {transport!r}; there are {' and '.join(map(repr, get_args(Transport)))}")
    if transport == "unix":
        if settings.tls is not None or settings.address != Settings().address:
            raise RpcError('an address or certificates (tls=) are for transport="tcp", and this is "unix"')
        return
    if settings.tls is None and not _address(settings).is_loopback:
        raise RpcError(
            f"{settings.address} can be reached from other machines: give certificates (tls=), or stay local"
        )
    _check_certificates(settings)


def check_address(settings: Settings) -> None:
    """Refuse an address that is none, and certificates that are of no use, where workers meet at an address."""
    _address(settings)
    _check_certificates(settings)


def _address(settings: Settings) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(settings.address)
    except ValueError:
        raise RpcError(f"{settings.address!r} is no IP address to listen at") from None


def _check_certificates(settings: Settings) -> None:
    if settings.tls is not None:
        try:
            tls.context_for(settings.tls, server_side=True)
        except OSError as error:
            raise RpcError(f"the certificates {settings.tls} cannot be used: {error}") from error


def exactly(stream: Stream, size: int) -> bytes:
    """Read so many bytes, or raise."""
    data = b""
    while len(data) < size:
        piece = stream.recv(size - len(data))
        if not piece:
            raise WireError("the other end hung up before it had said everything")
        data += piece
    return data


def introduce(
    stream: socket.socket, identity: Identity, settings: Settings, connecting: bool, purpose: int = handshake.MEETS
) -> tuple[Peer, Stream]:
    """Do all that comes before the first frame; raise `WireError` or `OSError` if it cannot be done."""
    shake = partial(handshake.connect, purpose=purpose) if connecting else handshake.accept
    stream.settimeout(handshake.DEADLINE_S)
    if stream.family == socket.AF_UNIX:
        return shake(stream, identity), stream
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if settings.tls is not None:
        wrapped = tls.wrap(stream, settings.tls, server_side=not connecting)
        try:
            key = tls.bound(identity.key, wrapped, settings.tls, server_side=not connecting)
            return shake(wrapped, replace(identity, key=key)), TlsStream(wrapped)
        except BaseException:
            wrapped.close()
            raise
    peer = shake(stream, identity)
    own, other = (CONNECTS, ACCEPTS) if connecting else (ACCEPTS, CONNECTS)
    return peer, SealedStream(stream, key_for(peer.session, own), key_for(peer.session, other))
