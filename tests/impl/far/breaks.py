"""Ways to break the link to another worker at the worst moments, and what is known of a link afterwards."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, Final

from farref.impl import get_worker_info
from farref.impl.core.messages import Control
from farref.impl.transport import again, mesh
from farref.impl.worker.connection import Connection
from farref.impl.worker.process import current
from tests.impl.far import cuts

CONNECT: Final = mesh.connect
MOMENT_S: Final = 0.004
"""About what a handshake takes."""


def _to(name: str) -> Connection:
    return current().connections[get_worker_info(name).id]


def _hang_up(stream: Any) -> None:
    with suppress(OSError, ValueError), socket.socket(fileno=os.dup(stream.fileno())) as other:
        other.shutdown(socket.SHUT_RDWR)


def end(to: str) -> None:
    """Cut the stream to a worker now, for both directions."""
    _hang_up(_to(to).stream)


def stop_writing(to: str) -> None:
    """Let nothing more be written to a worker, so that the next write fails, while more can be read."""
    with suppress(OSError, ValueError), socket.socket(fileno=os.dup(_to(to).stream.fileno())) as other:
        other.shutdown(socket.SHUT_WR)


def in_the_handshakes(to: str, seed: int, count: int) -> None:
    """Cut the stream to a worker, and so many of the next ones that this worker makes while they shake hands."""
    random, left = Random(seed), [count]

    def connect(address: Any) -> socket.socket:
        stream = CONNECT(address)
        if left[0] > 0:
            left[0] -= 1
            handle = stream.dup()
            later = threading.Timer(random.random() * MOMENT_S, _end_handle, [handle])
            later.daemon = True
            later.start()
        else:
            vars(again)["connect"] = CONNECT
        return stream

    vars(again)["connect"] = connect
    end(to)


def _end_handle(handle: socket.socket) -> None:
    with handle, suppress(OSError):
        handle.shutdown(socket.SHUT_RDWR)


def after_control(to: str) -> None:
    """Cut the stream to a worker as soon as the next control message was written, which nobody has answered then."""
    connection = _to(to)
    post: Callable[..., None] = type(connection).post

    def post_and_cut(message: Any, segments: Any) -> None:
        post(connection, message, segments)
        if type(message) is Control and not connection.broken:
            vars(connection).pop("post", None)
            connection.flush()
            _hang_up(connection.stream)

    connection.post = post_and_cut  # type: ignore[method-assign]


def within(to: str, seed: int) -> None:
    """Cut the stream to a worker, mostly in the middle of a frame."""
    cuts.cut(to, seed)


def links() -> dict[str, dict[str, Any]]:
    """Show how this worker stands with each of its peers."""
    worker = current()
    mending = worker.intake.mending
    return {
        worker.names[peer]: {
            "epoch": one.epoch,
            "broken": one.broken,
            "dead": one.dead,
            "taken": one.taken,
            "written": one.kept.end,
            "unheard": one.kept.end - one.kept.begin,
            "queued": one.queued_bytes(),
            "being mended": mending is not None and peer in mending.breaks,
        }
        for peer, one in worker.connections.items()
    }


def dead() -> list[str]:
    """Name those whom this worker takes for dead."""
    return [current().names[peer] for peer in current().core.dead]
