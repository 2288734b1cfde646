"""Whether another process has ended. A broken stream does not say so: both ends may live on.

`Life` is asked about the process at the other end of a Unix socket. `Started` tells by itself of processes that this one
started. It does not err, and needs no stream.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from contextlib import suppress
from typing import Final

from farref.impl.core.ids import WorkerId

CREDENTIALS: Final = struct.Struct("3i")


def is_ready(descriptor: int) -> bool:
    """Say whether a descriptor can be read from at once."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


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
        return self._descriptor is not None and is_ready(self._descriptor)

    def close(self) -> None:
        """Look no longer."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Started:
    """Workers that this process started. The end of each shows in a poller, once."""

    def __init__(self, poller: select.epoll) -> None:
        self._poller = poller
        self._watched: dict[int, WorkerId] = {}

    def watch(self, worker: WorkerId, pid: int) -> None:
        """Notice the end of a process. One that has ended, or for which there is no descriptor, is left to its streams."""
        with suppress(OSError, AttributeError):
            descriptor = os.pidfd_open(pid)
            self._watched[descriptor] = worker
            self._poller.register(descriptor, select.EPOLLIN)

    def ended(self, descriptor: int) -> WorkerId | None:
        """Say which worker has ended, if this descriptor tells of one; it is not told again."""
        worker = self._watched.pop(descriptor, None)
        if worker is not None:
            self._poller.unregister(descriptor)
            os.close(descriptor)
        return worker

    def descriptors(self) -> tuple[int, ...]:
        """List what is open."""
        return tuple(self._watched)

    def close(self) -> None:
        """Look no longer."""
        for descriptor in self.descriptors():
            self.ended(descriptor)
