"""Streams that break are made again, as long as both ends are members (R3, R36).

A thread for each broken one connects, or knocks, until there is a new stream, or nobody is there any more. It only shakes
hands. Whoever reads puts the new stream in the place of the old one: so nothing is read from both.
"""

from __future__ import annotations

import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from farref.impl.core.ids import WorkerId
from farref.impl.core.messages import Excluded
from farref.impl.errors import WireError
from farref.impl.transport.again import Gone, Refused, answer, hear, reach, refuse
from farref.impl.transport.doorway import Doorway, Guest
from farref.impl.transport.handshake import JOINS, Identity
from farref.impl.transport.mesh import Meeting
from farref.impl.worker.connection import Connection

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

PAUSE_S: Final = 0.01
PAUSE_S_MAX: Final = 0.5
NEW_S: Final = 5.0
"""So long a worker that was admitted may take until it listens."""


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    """One time that a stream broke, and what was seen of it."""

    reason: str


class Mending:
    """Makes the streams of one worker again."""

    def __init__(self, worker: Worker, meeting: Meeting, identity: Identity, listener: socket.socket) -> None:
        self._worker, self._meeting, self._identity = worker, meeting, identity
        self.listener = listener
        introduce = partial(hear, meeting=meeting, identity=identity)
        self._door = Doorway(listener, introduce, worker.reactor.rouse_reader, look_seconds=0)
        self._made: deque[Guest] = deque()
        """New streams that nobody has put in their places yet."""
        self.breaks: dict[WorkerId, Break] = {}
        """Whose stream is broken now."""
        self._last: dict[WorkerId, int] = {}
        """The highest number that a stream of ours to a peer has had."""
        self._closed = False

    # By whoever reads

    def begin(self, connection: Connection, reason: str) -> None:
        """Leave a broken stream, and have it made again."""
        connection.leave_stream()
        if connection.peer not in self.breaks:
            self._start(connection, reason)

    def look(self) -> None:
        """Let in who knocks, and put new streams in the place of broken ones."""
        while (knocking := self._door.admit()) is not None:  # one look for all who came since the last
            self._welcome(knocking, is_ours=False)
        while self._made:
            self._welcome(self._made.popleft(), is_ours=True)

    def _welcome(self, guest: Guest, is_ours: bool) -> None:
        worker, peer = self._worker, guest.peer.rank
        connection = worker.membership.find(guest)
        is_known = connection is not None and worker.core.here.lives.get(peer) == guest.peer.incarnation
        try:
            if guest.peer.purpose == JOINS:
                worker.membership.admit(guest)
                guest.stream.close()
            elif connection is None or not is_known or peer in worker.membership.refused:
                guest.stream.close()
            elif peer in worker.core.dead:
                if not is_ours:
                    refuse(guest, worker.core.members.view, worker.core.dead[peer])
                guest.stream.close()
            elif peer > worker.rank or is_ours:
                self._take(connection, guest, is_ours)
            else:
                self._be_knocked_at(connection, guest)
        except OSError:
            guest.stream.close()
            if is_ours and connection is not None:
                self._start(connection, "a new stream broke at once")
        except WireError as error:
            guest.stream.close()
            worker.declare_dead(peer, str(error))

    def _take(self, connection: Connection, guest: Guest, is_ours: bool) -> None:
        if guest.epoch <= connection.epoch or (is_ours and not connection.broken):
            guest.stream.close()
            return
        if self._worker.intake.reads(connection):
            self._worker.intake.lose(connection, ConnectionResetError("the other end has made a new stream"))
        if not is_ours:
            answer(guest, connection.taken)
        connection.go_on(guest.stream, guest.epoch, guest.taken)
        self.breaks.pop(connection.peer, None)
        self._worker.intake.watch(connection)

    def _be_knocked_at(self, connection: Connection, guest: Guest) -> None:
        """Hear that a peer has no stream to here: if this end has one, it is broken all the same."""
        answer(guest, connection.taken)
        guest.stream.close()
        if not connection.broken and guest.epoch > connection.epoch:
            self._worker.intake.lose(connection, ConnectionResetError("the other end has lost the stream"))

    def tick(self) -> None:
        """Send away who takes too long, and begin what could not begin when a stream broke.

        Not while a stream is still read from that only writing has found broken: more may be taken than was told (Z5).
        """
        self._door.hurry()
        for connection in self._worker.connections.values():
            is_left = connection.broken and not self._worker.intake.reads(connection)
            wants_it = is_left and not connection.dead and connection.peer not in self.breaks
            if wants_it and connection.peer not in self._worker.membership.refused:
                self._start(connection, "the stream is broken")

    def forget(self, peer: WorkerId) -> None:
        """Keep nothing of a peer that is buried. By whoever reads."""
        self.breaks.pop(peer, None)
        self._last.pop(peer, None)

    def close(self) -> None:
        """Listen no more."""
        self._closed = True
        self.listener.close()
        self._door.close()
        while self._made:
            self._made.popleft().stream.close()
        self._meeting.board.withdraw(self._worker.rank, self._identity.incarnation)

    # By a thread for each broken stream

    def _start(self, connection: Connection, reason: str) -> None:
        self.breaks[connection.peer] = mine = Break(reason)
        thread = threading.Thread(target=self._mend, args=(connection, mine), name="farref-mending", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # a limit of the system; the next tick tries again
            del self.breaks[connection.peer]

    def _mend(self, connection: Connection, mine: Break) -> None:
        """Connect until there is a new stream, and no longer: while it is put in its place, nothing else may be taken."""
        worker, peer, pauses, began = self._worker, connection.peer, _pauses(), time.monotonic()
        while self.breaks.get(peer) is mine and not (self._closed or connection.dead):
            try:
                if self._try(connection):
                    return
            except Gone:
                if connection.epoch or connection.has_met or time.monotonic() - began > NEW_S:
                    worker.declare_dead(peer, mine.reason)
            except Refused as refused:
                self._hear_no(peer, refused.told)
            except (WireError, OSError):
                pass
            time.sleep(next(pauses))

    def _hear_no(self, peer: WorkerId, told: Excluded) -> None:
        """Hear that a peer takes nothing more from this worker, which is excluded (R38)."""
        with self._worker.lock:
            self._worker.perform(self._worker.core.receive(peer, told))

    def _try(self, connection: Connection) -> bool:
        """Connect or knock once, and say whether there is a new stream."""
        peer, worker = connection.peer, self._worker
        connects = peer < worker.rank
        if peer not in worker.core.here.lives:
            return False  # it has just joined, and will connect
        epoch = self._last[peer] = max(connection.epoch, self._last.get(peer, 0) if connects else 0) + 1
        made = reach(self._meeting, self._identity, peer, worker.core.here.lives[peer], epoch, connection.taken)
        if connects:
            self._made.append(made)
            worker.reactor.rouse_reader()
        else:
            made.stream.close()  # it knows now, and connects
        return connects


def _pauses() -> Iterator[float]:
    pause = PAUSE_S
    while True:
        yield pause
        pause = min(2 * pause, PAUSE_S_MAX)
