"""A TCP stream between machines: TLS with certificates on both sides, from the standard library (spec/wire.md, TLS).

A world has an authority of its own, and whoever has a certificate of it may knock. Names in certificates are not looked at:
that a worker is who it says is settled by the handshake, which happens inside. Its key is bound to the two certificates that
each end sees (`bound`), so that nobody can stand between the two ends and have a certificate for each. TLS keeps others from
reading along and from changing anything, so records are not sealed once more.
"""

from __future__ import annotations

import hmac
import socket
import ssl
import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from farref.impl.settings import Tls
from farref.impl.transport.sealed import beginning
from farref.impl.user_code import watched

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
WRITE_BYTES_MAX: Final = 16 * 1024


def context_for(files: Tls, server_side: bool) -> ssl.SSLContext:
    """Make what one side of a connection needs: its own certificate, and the authority that the other must come from."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server_side else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(files.certificate, files.key)
    context.load_verify_locations(files.authority)
    return context


class TlsStream:
    """A socket inside TLS. Its methods are those of a `SealedStream`.

    One thread may write while another reads, which the library beneath does not allow on one connection: hence the lock.
    No call inside it blocks.
    """

    def __init__(self, stream: ssl.SSLSocket) -> None:
        self._stream = stream
        self._lock = watched(threading.Lock(), "tls")

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
        with self._lock:
            self._stream.shutdown(how)

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            self._stream.close()

    def pending(self) -> int:
        """Say how many bytes can be had without the socket becoming readable again."""
        with self._lock:
            return self._stream.pending()

    def send(self, piece: bytes | memoryview) -> int:
        """Send the beginning of one piece; say how much of it has left."""
        return self.sendmsg((piece,))

    def sendmsg(self, pieces: Sequence[bytes | memoryview]) -> int:
        """Send the beginning of some pieces; say how much of them has left."""
        data = beginning(pieces, WRITE_BYTES_MAX)
        with self._lock:
            try:
                return self._stream.send(data)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
                raise BlockingIOError from error

    def recv(self, length: int) -> bytes:
        """Give some bytes; nothing at the end of the stream."""
        with self._lock:
            try:
                return self._stream.recv(length)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
                raise BlockingIOError from error

    def recv_into(self, buffer: memoryview) -> int:
        """Give some bytes into memory that is there already."""
        data = self.recv(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def bound(key: bytes, stream: ssl.SSLSocket, files: Tls, server_side: bool) -> bytes:
    """Derive a key for the handshake inside that fits these two certificates only."""
    own, other = ssl.PEM_cert_to_DER_cert(_first(files.certificate)), stream.getpeercert(binary_form=True) or b""
    accepts, connects = (own, other) if server_side else (other, own)
    return hmac.digest(key, b"tls\0" + sha256(accepts).digest() + sha256(connects).digest(), "sha256")


def _first(path: str) -> str:
    """The certificate of a file: its first, if others that vouch for it follow."""
    text = Path(path).read_text()
    return text[text.index(BEGIN) : text.index(END) + len(END)]


def wrap(stream: socket.socket, files: Tls, server_side: bool) -> ssl.SSLSocket:
    """Begin TLS on a connected socket, or raise `OSError`."""
    return context_for(files, server_side).wrap_socket(stream, server_side=server_side)
