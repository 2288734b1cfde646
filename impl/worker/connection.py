"""One peer: frames out in one write, frames in as they arrive (`halves.py`), over one stream after the other.

Sending appends to the outbox and then writes as much as the socket takes; whoever holds the send lock writes for all. How
soon that is depends on what was queued: what somebody waits for leaves NOW. What nobody waits for, an answer to a delete say,
rides with the next frame to the same peer, and leaves alone only with a tick (LATER). In between is what may wait for the
functions that are about to run, if they were quick the last time: their results mostly go to the same peer (SOON).

What the socket did not take goes when it is writable again. Nothing of it is copied: no piece can change (`spec/arrays.md`).
What it took is kept until the peer has it (`halves.py`). While there is no stream, frames wait in the outbox.
"""

from __future__ import annotations

import select
import socket
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from farref.impl.core.autograd.messages import UNHURRIED
from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Ack, AnyMessage, CallFailed, ChildAccept, Control, UserAccept, UserDelete
from farref.impl.limits import NO_CHOICE
from farref.impl.transport.frames import Acks, Frame, Heard, HungUp, Returned, write_frame, write_plain_frame
from farref.impl.transport.streams import Stream
from farref.impl.user_code import watched
from farref.impl.values.arena import Window
from farref.impl.worker.halves import Kept, Piece, Reading

HEARD_BYTES: Final = 32 * 1024
"""After so much has come, its sender hears that it may forget it."""
KEPT_BYTES_LEAST: Final = 32 * HEARD_BYTES
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


class Connection(Reading):
    """An authenticated connection to a peer."""

    def __init__(
        self,
        stream: Stream | None,
        peer: WorkerId,
        poller: select.epoll,
        frame_bytes_max: int,
        window: Window | None = None,
    ) -> None:
        super().__init__(stream, frame_bytes_max)
        self.peer = peer
        self.outbox: deque[Piece] = deque()
        self.kept = Kept()
        self._told = self._claimed = 0
        """How much the peer was told that has come from it, and how much it says that has come to it."""
        self.epoch = 0
        """The number of the stream; the first has 0."""
        self.hurry = LATER
        """How soon the outbox has to leave. It is raised after something was queued and lowered before all of it is written, so
        that nothing stays behind whoever else does the other at the same time."""
        self._answers: list[Ack] = []
        self.roused = False
        """Whether the reader has been roused to write what is queued, and has not heard of it."""
        self.dead = self.closed = False
        self.has_met, self.broken = stream is not None, stream is None
        """Whether there is no stream that works now. Frames wait for the next one."""
        self.returned: deque[int] = deque() if window is None else window.returned
        """The places in the peer's arena that nobody here looks at any more."""
        self.queued_bytes_max = QUEUED_BYTES_MAX
        self._unrefused = 0
        """How much of the protocol itself was queued since the queue was full."""
        self.overfull = False
        """Whether the answers of the protocol alone, which nobody can refuse, take as much again as may be queued."""
        self._poller = poller
        self._sending = watched(threading.Lock(), "_sending")
        self._waits_for_room = False
        self._added = self._written = 0
        """Two counts, as those who add and those who write hold different locks. Each piece counts for its bytes and more."""
        if stream is not None:
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
            self.overfull = self._unrefused > self.queued_bytes_max
        self._added += len(frame) + PIECE_BYTES
        self.outbox.append(frame)
        if hurry > self.hurry:
            self.hurry = hurry

    def flush(self) -> None:
        """Write what is queued; leave it where the stream is broken, of which the reader will hear."""
        self.hurry = LATER
        while self.outbox and not (self.dead or self.broken):
            if not self._sending.acquire(False):
                return
            try:
                if not self._write():
                    return
            except OSError:
                self.broken = True
            finally:
                self._sending.release()
        if self.dead:
            self.outbox.clear()

    def is_full(self) -> bool:
        """Say whether so much waits for the peer, or for word from it, that nobody should add to it."""
        most, kept = self.queued_bytes_max, self.kept
        return self._added - self._written > most or kept.end - kept.begin > most + KEPT_BYTES_LEAST

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
        if self.broken:
            return False
        while outbox:
            pieces = [outbox.popleft()]
            size = len(pieces[0])
            while outbox and len(pieces) < PIECES_MAX:
                pieces.append(outbox.popleft())
                size += len(pieces[-1])
            try:
                written = self.stream.send(pieces[0]) if len(pieces) == 1 else self.stream.sendmsg(pieces)
            except BlockingIOError:
                outbox.extendleft(reversed(pieces))
                self._waits_for_room = True
                self._poller.modify(self.stream, select.EPOLLIN | select.EPOLLOUT)
                return False
            except OSError:
                outbox.extendleft(reversed(pieces))
                raise
            if written == size:
                self._written += size + PIECE_BYTES * len(pieces)
                self.kept.add(pieces, written)
            else:
                self._put_back(pieces, written)
        return True

    def _put_back(self, pieces: list[Piece], written: int) -> None:
        """Count and keep what was written, and put the rest back."""
        self._written += written
        rest, whole = written, 0
        while rest >= len(pieces[whole]):
            rest -= len(pieces[whole])
            whole += 1
        self._written += PIECE_BYTES * whole
        cut = memoryview(pieces[whole])
        self.outbox.extendleft(reversed([cut[rest:], *pieces[whole + 1 :]]))
        self.kept.add([*pieces[:whole], cut[:rest]] if rest else pieces[:whole], written)

    # What has arrived, and the next stream

    def owes_something(self) -> bool:
        """Say whether something is to leave, now or with the next tick."""
        return bool(self.outbox or self._answers or self.returned)

    def owes_word(self) -> bool:
        """Say whether so much has come that the peer should hear of it."""
        return self.taken - self._told > HEARD_BYTES

    def say_heard(self, hurry: int) -> None:
        """Tell the peer how much has come. One thread at a time."""
        self._told = self.taken
        self.queue_message(Heard(self.taken), hurry)

    def hear(self, taken: int) -> None:
        """Forget what the peer has taken; or let whoever writes go on, and forget it with the next tick."""
        self._claimed = max(taken, self._claimed)
        self.forget()

    def forget(self) -> None:
        """Forget what the peer says it has taken, unless somebody writes now."""
        if self._claimed > self.kept.begin and self._sending.acquire(False):
            try:
                self.kept.forget(self._claimed)
            finally:
                self._sending.release()
            if self.outbox:
                self.flush()

    def leave_stream(self) -> None:
        """Close a stream that broke. By whoever reads."""
        with self._sending:
            self.broken = True
            self._waits_for_room = False
            with suppress(OSError, ValueError, KeyError):
                self._poller.unregister(self.stream)
            self.stream.close()

    def go_on(self, stream: Stream, epoch: int, taken: int) -> None:
        """Go on with another stream, behind what the peer has taken. By whoever reads."""
        with self._sending:
            again = self.kept.again(taken)
            self._written -= sum(map(len, again)) + PIECE_BYTES * len(again)
            self.outbox.extendleft(reversed(again))
            self.epoch, self._told, self._claimed = epoch, self.taken, taken
            stream.setblocking(False)
            self.read_from(stream)
            self._poller.register(stream, select.EPOLLIN)
            self.broken = False
        self.hurry = NOW

    # The end

    def say_why(self, reason: str) -> None:
        """Tell the other end why it is about to be left, if that can be done at once and no frame is half written."""
        if not self.dead and not self.broken and not self.outbox and self._sending.acquire(False):
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
        """Hang up, for good, and keep nothing. By whoever reads."""
        self.dead = self.closed = True
        self.outbox.clear()
        self._answers.clear()
        self.kept.clear()
        self._large, self._buffer = None, b""
        with suppress(OSError, ValueError, KeyError):
            self._poller.unregister(self.stream)
        self.stream.close()
