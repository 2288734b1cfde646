"""TLS and the handshake inside belong together: who has a certificate, and not the key, can pass nothing on."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from typing import Any

import pytest

from farref.impl.errors import WireError
from farref.impl.settings import Settings, Tls
from farref.impl.transport.streams import introduce
from farref.impl.transport.tls import wrap
from tests.impl.transport.test_strangers import CERTIFICATES, identity


def pump(source: ssl.SSLSocket, target: ssl.SSLSocket) -> None:
    """Pass on what comes, until either end hangs up."""
    with suppress(OSError):
        while piece := source.recv(4096):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def relay(listener: socket.socket, address: Any, tls: Tls) -> None:
    """Stand between two workers, with a certificate of their authority and without the key of their world."""
    guest, _ = listener.accept()
    plain = socket.create_connection(address)
    with wrap(guest, tls, server_side=True) as inner, wrap(plain, tls, server_side=False) as outer:
        back = threading.Thread(target=pump, args=(outer, inner))
        back.start()
        pump(inner, outer)
        back.join()


def test_a_relay_with_a_certificate_of_the_same_authority_is_refused_by_both() -> None:
    """It would read and change all that is said. The proof of the key is bound to the certificates that each end sees."""
    member, between = (
        Tls(*(str(CERTIFICATES / name) for name in (f"{who}.pem", f"{who}.key", "relayed-authority.pem")))
        for who in ("member", "relay")
    )
    outcomes: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as between_them:

        def answer() -> None:
            guest, _ = listener.accept()
            try:
                outcomes.append(introduce(guest, identity(0), Settings(tls=member), connecting=False))
            except (WireError, OSError) as error:
                outcomes.append(error)
            guest.close()

        threads = [
            threading.Thread(target=answer),
            threading.Thread(target=relay, args=(between_them, listener.getsockname(), between)),
        ]
        for thread in threads:
            thread.start()
        stream = socket.create_connection(between_them.getsockname())
        with pytest.raises((WireError, OSError)):
            introduce(stream, identity(1), Settings(tls=member), connecting=True)
        for thread in threads:
            thread.join()
    assert isinstance(outcomes[0], WireError | ssl.SSLError), "refused by our proof, or by TLS as the relay was cut off"
