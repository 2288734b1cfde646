"""Who knocks while a world comes together: strangers, and the workers that are awaited.

Every guest introduces itself on a thread of its own, so that a silent one keeps nobody waiting. There are never more than
`GUESTS_MAX` of them: when there are, the one that has taken longest is sent away, and so is whoever has taken longer than a
handshake may. A worker that was sent away knocks again (`mesh`). So any number of connections that say nothing, or
say it slowly, costs little memory and delays nobody for long.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from farref.impl.errors import WireError
from farref.impl.transport.handshake import DEADLINE_S, Peer
from farref.impl.transport.streams import Stream
from farref.impl.user_code import watched

GUESTS_MAX: Final = 64
LOOK_S: Final = 0.01
BREATH_S: Final = 0.0002
"""So long a thread needs to notice that its guest was sent away. Until it has, nobody else is let in."""

Introduce = Callable[[socket.socket], tuple[Peer, Stream]]


class Doorway:
    """Takes connections in from a listening socket. `introduce` hears one guest out, or raises."""

    def __init__(self, listener: socket.socket, introduce: Introduce) -> None:
        self._listener = listener
        self._introduce = introduce
        self._guests: dict[socket.socket, float] = {}
        """Handles of our own on the guests' sockets, which TLS takes over, and since when they are here. Oldest first."""
        self._lock = watched(threading.Lock(), "doorway")
        self._admitted: queue.SimpleQueue[tuple[Peer, Stream]] = queue.SimpleQueue()
        listener.settimeout(LOOK_S)

    def admit(self) -> tuple[Peer, Stream] | None:
        """Look once: let in who knocks, send away who takes too long, and hand out one who has proved itself."""
        self._hurry()
        if len(self._guests) < GUESTS_MAX:
            try:
                self._welcome(self._listener.accept()[0])
            except TimeoutError:
                pass
            except (OSError, RuntimeError):  # no descriptor or no thread is free now; later one may be
                self._make_room()
        else:
            self._make_room()
        with suppress(queue.Empty):
            return self._admitted.get_nowait()
        return None

    def close(self) -> None:
        """Send everybody away who has not been handed out."""
        with self._lock:
            for guest in self._guests:
                _send_away(guest)
        with suppress(queue.Empty):
            while True:
                self._admitted.get_nowait()[1].close()

    def _make_room(self) -> None:
        with self._lock:
            for guest in list(self._guests)[:1]:
                _send_away(guest)
        time.sleep(BREATH_S)

    def _welcome(self, guest: socket.socket) -> None:
        try:
            handle = guest.dup()
        except OSError:
            guest.close()
            raise
        with self._lock:
            self._guests[handle] = time.monotonic()
        try:
            threading.Thread(target=self._hear, args=(guest, handle), name="farref-guest", daemon=True).start()
        except RuntimeError:
            guest.close()
            self._forget(handle)
            raise

    def _hurry(self) -> None:
        with self._lock:
            for guest, since in self._guests.items():
                if time.monotonic() - since > DEADLINE_S:
                    _send_away(guest)

    def _hear(self, guest: socket.socket, handle: socket.socket) -> None:
        try:
            self._admitted.put(self._introduce(guest))
        except (WireError, OSError):
            guest.close()
        finally:
            self._forget(handle)

    def _forget(self, handle: socket.socket) -> None:
        with self._lock:
            del self._guests[handle]
            handle.close()


def _send_away(guest: socket.socket) -> None:
    """Make the thread that listens to a guest hear the end of it. The thread closes the socket."""
    with suppress(OSError):
        guest.shutdown(socket.SHUT_RDWR)
