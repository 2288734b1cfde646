"""One stream to one peer: frames out in one write, frames in as they arrive. It never blocks whoever reads.

Sending appends to the outbox and then writes as much as the socket takes; whoever holds the send lock writes for all. How
soon that is depends on what was queued: what somebody waits for leaves NOW. What nobody waits for, an answer to a delete say,
rides with the next frame to the same peer, and leaves alone only with a tick (LATER). In between is what may wait for the
functions that are about to run, if they were quick the last time: their results mostly go to the same peer (SOON).

What the socket did not take goes when it is writable again. Nothing of it is copied: no piece can change (`spec/arrays.md`).
"""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from farref.impl.core.autograd.messages import UNHURRIED
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, AnyMessage, CallFailed, ChildAccept, Control, UserAccept, UserDelete
from farref.impl.limits import NO_CHOICE
from farref.impl.transport.frames import (
    HEADER,
    Acks,
    Frame,
    HungUp,
    Returned,
    read_header,
    write_frame,
    write_plain_frame,
)
from farref.impl.transport.streams import Stream
from farref.impl.user_code import watched
from farref.impl.values.arena import Window
from farref.impl.values.codec import padded

READ_BYTES: Final = 64 * 1024
PIECES_MAX: Final = 512
QUEUED_BYTES_MAX: Final = NO_CHOICE.queued_bytes_max
REASON_MAX: Final = 200
ANSWERS: Final = 32
PIECE_BYTES: Final = 256
"""About what a piece costs beside its bytes."""

LATER, SOON, NOW = range(3)
"""How soon something has to leave."""

HURRIES: Final[Mapping[type, int]] = {
    **dict.fromkeys((UserDelete, *UNHURRIED), LATER),
    **dict.fromkeys((UserAccept, ChildAccept), SOON),
}
"""What need not leave at once. The others keep a function, or whoever called one, waiting."""


UNREFUSED: Final = frozenset({Control, UserAccept, CallFailed})
"""What is said whether or not there is room: it ends something, or counts references."""


@dataclass(slots=True)
class Large:
    """A large frame that has come in part: its memory, the length of its body, and how much has come."""

    memory: memoryview
    body: int
    filled: int


class Connection:
    """An authenticated stream to a peer."""

    def __init__(
        self,
        stream: Stream,
        peer: WorkerId,
        poller: select.epoll,
        frame_bytes_max: int,
        window: Window | None = None,
    ) -> None:
        self.stream = stream
        self.peer = peer
        self.outbox: deque[bytes | memoryview] = deque()
        self.hurry = LATER
        """How soon the outbox has to leave. It is raised after something was queued and lowered before all of it is written, so
        that nothing stays behind whoever else does the other at the same time."""
        self._answers: list[Ack] = []
        self.roused = False
        """Whether the reader has been roused to write what is queued, and has not heard of it."""
        self.dead = False
        self.returned: deque[int] = deque() if window is None else window.returned
        """The places in the peer's arena that nobody here looks at any more."""
        self._frame_bytes_max = frame_bytes_max
        self.queued_bytes_max = QUEUED_BYTES_MAX
        self._unrefused = 0
        """How much of the protocol itself was queued since the queue was full."""
        self._poller = poller
        self._sending = watched(threading.Lock(), "_sending")
        self._waits_for_room = False
        self._added = self._written = 0
        """Two counts, as those who add and those who write hold different locks. Each piece counts for its bytes and more."""
        self._buffer = b""
        self._large: Large | None = None
        self._pending: Callable[[], int] | None = None if isinstance(stream, socket.socket) else stream.pending
        """A plain socket keeps nothing back that its descriptor does not show."""
        stream.setblocking(False)
        poller.register(stream, select.EPOLLIN)

    # Writing

    def post(self, message: AnyMessage, segments: list[memoryview] | None) -> None:
        """Write a message, to leave as soon as it has to. An answer is kept until there are some, or until the next tick."""
        if type(message) is Ack:
            self._answers.append(message)
            if len(self._answers) >= ANSWERS:
                self.gather()
            return
        hurry = HURRIES.get(type(message.body if type(message) is Control else message), NOW)
        if segments:
            self.queue(write_frame(message, segments, self._frame_bytes_max), hurry)
        else:
            self.queue_message(message, hurry, type(message) in UNREFUSED)

    def gather(self) -> None:
        """Queue the answers that were kept, as one frame, which may wait for something to ride with. They only end retries."""
        if self._answers:
            self.queue_message(Acks(tuple(self._answers)), LATER, True)
            self._answers.clear()

    def give_back(self) -> None:
        """Tell the peer which of its rooms nobody here looks at any more."""
        places = tuple(self.returned.popleft() for _ in range(len(self.returned)))
        if places:
            self.queue_message(Returned(places), LATER, True)

    def queue(self, pieces: list[bytes | memoryview], hurry: int = NOW) -> None:
        """Leave pieces to be written. One thread at a time."""
        self._added += sum(map(len, pieces)) + PIECE_BYTES * len(pieces)
        self.outbox.extend(pieces)
        if hurry > self.hurry:
            self.hurry = hurry

    def queue_message(self, message: Frame, hurry: int, is_unrefused: bool = False) -> None:
        """Leave a message without segments to be written, as almost all are. One thread at a time."""
        frame = write_plain_frame(message, self._frame_bytes_max)
        if is_unrefused:
            self._unrefused = self._unrefused + len(frame) + PIECE_BYTES if self.is_full() else 0
        self._added += len(frame) + PIECE_BYTES
        self.outbox.append(frame)
        if hurry > self.hurry:
            self.hurry = hurry

    def flush(self) -> None:
        """Write what is queued; give up on a broken stream, whose reader will hear of it."""
        self.hurry = LATER
        while self.outbox and not self.dead:
            if not self._sending.acquire(blocking=False):
                return
            try:
                if not self._write():
                    return
            except OSError:
                self.dead = True
            finally:
                self._sending.release()
        if self.dead:
            self.outbox.clear()

    def is_full(self) -> bool:
        """Say whether so much waits for the peer that nobody should add to it."""
        return self._added - self._written > self.queued_bytes_max

    def is_overfull(self) -> bool:
        """Say whether the answers of the protocol alone, which nobody can refuse, take as much again as may be queued."""
        return self._unrefused > self.queued_bytes_max

    def queued_bytes(self) -> int:
        """Say how much waits to be written, and what it costs to keep."""
        return self._added - self._written

    def on_writable(self) -> None:
        """Go on writing."""
        if self._waits_for_room:
            self._waits_for_room = False
            self._poller.modify(self.stream, select.EPOLLIN)
        self.flush()

    def _write(self) -> bool:
        outbox = self.outbox
        while outbox:
            pieces = [outbox.popleft()]
            while outbox and len(pieces) < PIECES_MAX:
                pieces.append(outbox.popleft())
            try:
                written = self.stream.send(pieces[0]) if len(pieces) == 1 else self.stream.sendmsg(pieces)
            except BlockingIOError:
                outbox.extendleft(reversed(pieces))
                self._waits_for_room = True
                self._poller.modify(self.stream, select.EPOLLIN | select.EPOLLOUT)
                return False
            if written == sum(map(len, pieces)):
                self._written += written + PIECE_BYTES * len(pieces)
            else:
                self._put_back(pieces, written)
        return True

    def _put_back(self, pieces: list[bytes | memoryview], written: int) -> None:
        """Count what was written, and put the rest back."""
        self._written += written
        for index, piece in enumerate(pieces):
            if written < len(piece):
                pieces[index] = memoryview(piece)[written:]
                self.outbox.extendleft(reversed(pieces[index:]))
                return
            written -= len(piece)
            self._written += PIECE_BYTES

    # Reading: by one thread at a time

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
            yield large.memory[: large.body], large.memory[padded(large.body) :]

    def say_why(self, reason: str) -> None:
        """Tell the other end why it is about to be left, if that can be done at once and no frame is half written."""
        if not self.dead and not self.outbox and self._sending.acquire(blocking=False):
            try:
                with suppress(OSError, ValueError):
                    self.stream.send(write_plain_frame(HungUp(reason[:REASON_MAX])))
            finally:
                self._sending.release()

    def hang_up(self) -> None:
        """Say and hear nothing more, and let the other end know. Whoever reads closes the stream, as it hears of this too."""
        self.dead = True
        self.outbox.clear()
        with suppress(OSError, ValueError):
            self.stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Hang up, for good."""
        self.dead = True
        self.outbox.clear()
        self._answers.clear()
        self._large, self._buffer = None, b""
        with suppress(OSError, ValueError):
            self._poller.unregister(self.stream)
        self.stream.close()
