"""Links between real workers that really break: what is written gets lost first, then the stream ends, and is made again.

So all that was said over a broken link is what the worker wrote and nobody took, which has to be written once more, each frame
once and in order (Z1 to Z5).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from farref.impl.worker.connection import Connection


class LosingStream:
    """A stream that takes whatever is written, and brings it nowhere."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def send(self, piece: bytes | memoryview) -> int:
        """Lose a piece."""
        return len(piece)

    def sendmsg(self, pieces: Sequence[bytes | memoryview]) -> int:
        """Lose some pieces."""
        return sum(map(len, pieces))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def fall_silent(connection: Connection) -> None:
    """Have all that is written from now on get lost."""
    with connection._sending:
        connection.stream = LosingStream(connection.stream)  # type: ignore[assignment]


def end_stream(connection: Connection) -> int:
    """End the stream that there is, for both ends, and give its number."""
    epoch = connection.epoch
    with suppress(OSError), socket.socket(fileno=os.dup(connection.stream.fileno())) as handle:
        handle.shutdown(socket.SHUT_RDWR)
    return epoch
