"""Whether the process at the other end of a Unix socket has ended. A broken stream does not say so: both ends may live on."""

from __future__ import annotations

import os
import select
import socket
import struct
from contextlib import suppress
from typing import Final

CREDENTIALS: Final = struct.Struct("3i")


class Life:
    """The process at the other end of a stream, looked up while it is known to be there."""

    def __init__(self, stream: socket.socket) -> None:
        self._descriptor: int | None = None
        pid = CREDENTIALS.unpack(stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))[0]
        # One in another container has no number here, or the kernel is too old: then nobody ever knows.
        with suppress(OSError, AttributeError):
            self._descriptor = os.pidfd_open(pid)

    def has_ended(self) -> bool:
        """Say whether the process has ended for certain."""
        if self._descriptor is None:
            return False
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Look no longer."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
