"""What outlives a stream between two workers: how much has come, and what was written and may not have arrived.

Both ends count the bytes of whole frames from the first stream on. What was written is kept until the peer says that it has
taken it. A piece never spans two frames, so what the peer has taken ends where a piece ends. When a stream breaks, what follows
is written again to the next one (`spec/wire.md`, Epochs). Pieces are not copied: none of them can change (`spec/arrays.md`).
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from farref.impl.errors import WireError
from farref.impl.transport.frames import HEADER, read_header
from farref.impl.transport.streams import Stream
from farref.impl.values.codec import padded

READ_BYTES: Final = 64 * 1024

Piece = bytes | memoryview


@dataclass(slots=True)
class Large:
    """A large frame that has come in part: its memory, the length of its body, and how much has come."""

    memory: memoryview
    body: int
    filled: int


class Reading:
    """The half of a connection that reads. One thread at a time is in here."""

    def __init__(self, stream: Stream | None, frame_bytes_max: int) -> None:
        self.taken = 0
        """How many bytes of whole frames were handed out."""
        self._frame_bytes_max = frame_bytes_max
        self.read_from(_nowhere() if stream is None else stream)

    def read_from(self, stream: Stream) -> None:
        """Go on with another stream. What had come of a frame in part comes again."""
        self.stream = stream
        self._buffer = b""
        self._large: Large | None = None
        self._pending: Callable[[], int] | None = None if isinstance(stream, socket.socket) else stream.pending
        """A plain socket keeps nothing back that its descriptor does not show."""

    def frames(self) -> Iterator[tuple[bytes | memoryview, memoryview | None]]:
        """Read what has arrived, and hand out each whole frame: its body, and its segments if it has some."""
        data = self._buffer
        if self._large is None:
            try:
                came = self.stream.recv(READ_BYTES)
            except BlockingIOError:
                return
            if not came:
                raise ConnectionResetError("the other end hung up")
            data += came
        start, length = 0, len(data)
        while length - start >= HEADER.size:
            total, body = read_header(data, self._frame_bytes_max, start)
            begin = start + HEADER.size
            end = begin + total
            if end > length:
                if total > READ_BYTES:
                    self._large = Large(np.empty(total, np.uint8).data, body, length - begin)
                    self._large.memory[: length - begin] = data[begin:]
                    start = length
                break
            segments = memoryview(bytearray(data[begin + padded(body) : end])) if total > body else None
            self.taken += end - start
            yield data[begin : begin + body], segments
            start = end
        self._buffer = data[start:]
        if self._large is not None:
            yield from self._fill_large()
        if self._pending is not None and self._pending():
            yield from self.frames()

    def _fill_large(self) -> Iterator[tuple[memoryview, memoryview]]:
        """Go on reading a large frame, straight into the memory that its arrays will be views of; hand it out when whole.

        A peer that stops in the middle of one keeps nobody waiting: the rest is read when it comes.
        """
        large = self._large
        while large is not None and large.filled < len(large.memory):
            try:
                count = self.stream.recv_into(large.memory[large.filled :])
            except BlockingIOError:
                return
            if not count:
                raise ConnectionResetError("the other end hung up in the middle of a frame")
            large.filled += count
        if large is not None:
            self._large = None
            self.taken += HEADER.size + len(large.memory)
            yield large.memory[: large.body], large.memory[padded(large.body) :]


def _nowhere() -> socket.socket:
    """A socket in the place of the first stream, until there is one."""
    nowhere = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    nowhere.close()
    return nowhere


class Kept:
    """The end of what was written to one peer. Whoever has the send lock is in here, and nobody else."""

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self.begin = self.end = 0
        """How many bytes of frames were written before the first piece here, and up to the end of the last."""

    def add(self, pieces: list[Piece], size: int) -> None:
        """Keep pieces of so many bytes that were written."""
        self._pieces.extend(pieces)
        self.end += size

    def forget(self, taken: int) -> None:
        """Keep nothing of what the peer has taken."""
        if taken > self.end:
            raise WireError(f"a peer has taken {taken} bytes of frames, and was sent {self.end}")
        pieces, begin = self._pieces, self.begin
        while pieces and (end := begin + len(pieces[0])) <= taken:
            pieces.popleft()
            begin = end
        self.begin = begin

    def again(self, taken: int) -> list[Piece]:
        """Give all that a peer has not taken, to be written once more."""
        self.forget(taken)
        if self.begin != taken:
            raise WireError(f"a peer has taken {taken} bytes of frames, and no frame ends there")
        pieces = list(self._pieces)
        self.clear()
        return pieces

    def clear(self) -> None:
        """Keep nothing."""
        self._pieces.clear()
        self.end = self.begin
