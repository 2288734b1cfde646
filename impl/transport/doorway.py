"""Who knocks: strangers, the workers that are awaited while a world comes together, and later those whose stream broke.

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
from dataclasses import dataclass
from typing import Final

from farref.impl.errors import WireError
from farref.impl.transport.boards import Endpoint
from farref.impl.transport.handshake import DEADLINE_S, Peer
from farref.impl.transport.streams import Stream
from farref.impl.user_code import watched

GUESTS_MAX: Final = 64
LOOK_S: Final = 0.01
BREATH_S: Final = 0.0002
"""So long a thread needs to notice that its guest was sent away. Until it has, nobody else is let in."""


@dataclass(frozen=True, slots=True)
class Guest:
    """Who has proved itself. If its stream takes the place of another: the number of it, and how much its end has taken.

    If it comes to meet or to join: its name and, where workers meet at an address, where it listens and how large a world it
    expects.
    """

    peer: Peer
    stream: Stream
    epoch: int = 0
    taken: int = 0
    name: str = ""
    place: Endpoint | None = None
    size: int = 0


Introduce = Callable[[socket.socket], Guest]


class Doorway:
    """Takes connections in from a listening socket. `introduce` hears one guest out, or raises; `notify` says that one did."""

    def __init__(
        self,
        listener: socket.socket,
        introduce: Introduce,
        notify: Callable[[], None] = lambda: None,
        look_seconds: float = LOOK_S,
    ) -> None:
        self._listener = listener
        self._introduce, self._notify = introduce, notify
        self._guests: dict[socket.socket, float] = {}
        """Handles of our own on the guests' sockets, which TLS takes over, and since when they are here. Oldest first."""
        self._lock = watched(threading.Lock(), "doorway")
        self._admitted: queue.SimpleQueue[Guest] = queue.SimpleQueue()
        listener.settimeout(look_seconds)

    def admit(self) -> Guest | None:
        """Look once: let in who knocks, send away who takes too long, and hand out one who has proved itself."""
        self.hurry()
        if len(self._guests) < GUESTS_MAX:
            try:
                self._welcome(self._listener.accept()[0])
            except (TimeoutError, BlockingIOError):
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
                self._admitted.get_nowait().stream.close()

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

    def hurry(self) -> None:
        """Send away who takes too long."""
        with self._lock:
            for guest, since in self._guests.items():
                if time.monotonic() - since > DEADLINE_S:
                    _send_away(guest)

    def _hear(self, guest: socket.socket, handle: socket.socket) -> None:
        try:
            self._admitted.put(self._introduce(guest))
            self._notify()
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
