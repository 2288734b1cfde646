"""Who takes part, between real processes: what is suspected, what the authority decides, and what follows (R35 to R44).

A worker that sees a peer fail tells the authority, and does nothing else about it (`suspect`). Rank 0 hosts the authority. It
excludes whomever it is advised to: members advise it only when they are certain, or when `silence_seconds` have passed. What
ends a wait is a view that was installed, and nothing before.

If the authority's own worker is lost, nobody is excluded any more. It is dead to those who see it end (R34), so that nobody
waits for its answers; nothing that it held is let go.

A peer that says nothing is told apart from one that has nothing to say by a word on idle links, `Heard`, some times in
`silence_seconds`. All methods are for whoever has the worker's lock, unless they say otherwise.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from farref.impl.core.authority import Authority
from farref.impl.core.effects import Fenced, Joined, KeepAuthority, Lost, MembersEffect, Suspected
from farref.impl.core.ids import WorkerId
from farref.impl.errors import PeerDied, WasExcluded, WireError
from farref.impl.transport.boards import Board, Book
from farref.impl.transport.doorway import Guest
from farref.impl.transport.frames import Known
from farref.impl.transport.handshake import JOINS
from farref.impl.transport.joining import Admission
from farref.impl.transport.joining import admit as tell_admitted
from farref.impl.worker.connection import NOW, Connection

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

WORDS, WORDS_RARE, LONG_S = 4, 2, 10.0
"""How often an idle worker says something in the time after which silence is suspicious; and if that is long."""
REST_S: Final = 0.8
"""How much time passes between two ticks at most, where nothing waits for time to pass."""
PAUSE_S: Final = 1.0
"""If so much more time passes between two ticks, this worker was stopped itself, and nobody else's silence means anything."""


class Membership:
    """The members of a world, for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker, self._members = worker, worker.core.members
        self._silence = worker.settings.silence_seconds
        self._word = self._silence / (WORDS if self._silence < LONG_S else WORDS_RARE)
        self._board: Board | None = None
        """Where the world met. Without one there is no authority, and a peer that fails is dead (R34)."""
        self.suspected: dict[WorkerId, str] = {}
        self.refused: set[WorkerId] = set()
        """Peers that sent what no honest peer sends: nothing is taken from them until a view excludes them."""
        self._heard: dict[WorkerId, tuple[int, float]] = {}
        """How much had come from each peer, and since when it has been so much."""
        self._said: dict[WorkerId, tuple[int, float]] = {}
        self._last = 0.0
        self.news = threading.Event()
        """Set when somebody is lost, or has said which step of leaving it has reached."""
        self._succeeded: set[WorkerId] = set()
        """Buried workers whose names others have now, and whose connections are not closed yet."""

    def begin(self, board: Board) -> None:
        """Take part in a world that has met. Not under the lock."""
        self._board = board
        if self._worker.rank == self._members.authority:
            board.keep(None)  # of another world that met here
            with self._worker.lock:
                self._worker.perform(self._members.host(Authority(len(self._worker.names))))

    # What goes wrong

    def suspect(self, peer: WorkerId, reason: str) -> bool:
        """Advise the authority that a peer cannot take part any more. Say whether there is an authority to decide that."""
        if self._board is None or peer == self._members.authority or self._worker.closed:
            return False
        if peer not in self.suspected:
            self.suspected[peer] = reason
            self._worker.perform(self._members.suspect(peer, reason))
        return True

    def tick(self, now: float) -> None:
        """Say something where nothing else was said, and suspect whoever has said nothing."""
        was_stopped, self._last = now - self._last > PAUSE_S + self.rest_seconds(), now
        self._forget()
        if not self._silence or self._board is None:
            return
        for peer, connection in self._worker.connections.items():
            if peer not in self._members.since and not connection.dead:
                # Others may call a worker that only waits for them to leave, so it says something to the last.
                self._say_something(connection, now)
                # Whoever leaves suspects nobody; and while the authority is silent, nobody decides anything (R35).
                if peer != self._members.authority and not self._worker.closing:
                    self._listen(peer, connection, now, was_stopped)

    def _say_something(self, connection: Connection, now: float) -> None:
        said, since = self._said.get(connection.peer, (-1, now))
        if said != connection.kept.end:
            self._said[connection.peer] = (connection.kept.end, now)
        elif now - since > self._word and not connection.broken and not connection.outbox:
            connection.say_heard(NOW)

    def _listen(self, peer: WorkerId, connection: Connection, now: float, was_stopped: bool) -> None:
        heard, since = self._heard.get(peer, (-1, now))
        if heard != connection.taken or was_stopped:
            self._heard[peer] = (connection.taken, now)
        elif now - since > self._silence:
            self._worker.declare_dead(peer, f"it has said nothing for {self._silence:g} s (silence_seconds)")

    def rest_seconds(self) -> float:
        """Say how rarely somebody who rests may look at the time, and still say something often enough."""
        return min(REST_S, self._word / 2) if self._silence else REST_S

    # What is decided

    def perform(self, effect: MembersEffect) -> None:
        """Do what a step about members asks for."""
        match effect:
            case Suspected(peer, _, reason):
                self._worker.perform(self._members.exclude([peer], reason))
            case KeepAuthority(state):
                if self._board is not None:
                    self._board.keep(state)
            case Lost(peer, reason):
                self.lose(peer, reason)
            case Fenced():
                self._worker.closing = True  # and everybody else is lost to this worker in the same step
            case Joined(peer):
                self._let_be_called(peer)

    def lose(self, peer: WorkerId, reason: str) -> None:
        """Hang up on a peer that is excluded, or dead, and end the calls to it (R37)."""
        worker = self._worker
        self.news.set()
        kind = PeerDied if worker.core.here.fenced is None else WasExcluded
        if peer in worker.connections:
            worker.connections[peer].hang_up()
        if worker.arena is not None:
            worker.arena.lose(peer)
        for call, (future, target, name) in list(worker.calls.items()):
            if target == peer:
                del worker.calls[call]
                future.offer_exception(kind(f"{name}: {reason}"))

    # Who joins

    def admit(self, guest: Guest) -> None:
        """Let somebody join in the place of a worker that was excluded, or say why not (R44). Not under the lock."""
        worker, name = self._worker, guest.name
        with worker.lock:
            reason = self._objection(guest)
            if reason is not None:
                tell_admitted(guest, reason)
                return
            newcomer = WorkerId(len(worker.core.workers))
            self._make_known(newcomer, guest)
            worker.names[newcomer] = name
            worker.core.here.lives[newcomer] = guest.peer.incarnation
            _, view, effects = self._members.admit()
            worker.perform(effects)
            lives = {**worker.core.here.lives, worker.rank: worker.core.incarnation}
            known = dict(worker.names), lives, self._place().listing()
            tell_admitted(guest, Admission(newcomer, view, self._members.buried, *known))

    def _make_known(self, newcomer: WorkerId, guest: Guest) -> None:
        """Say who comes, and where to find it, before anybody hears of the view that has it."""
        known = self._place().enter(newcomer, guest.name, guest.place)
        for peer, connection in self._worker.connections.items():
            if known is not None and peer not in self._worker.core.dead:
                connection.queue_message(known, NOW)

    def note(self, source: WorkerId, known: Known) -> None:
        """Hear from rank 0 who comes."""
        if source != self._members.authority:
            raise WireError(f"worker {source} says who joins, and does not decide that")
        if not isinstance(self._board, Book) or known.rank != len(self._board.names):
            raise WireError(f"nobody here has to hear that worker {known.rank} joins")
        self._board.enter(known.rank, known.name, (known.host, known.port))

    def _objection(self, guest: Guest) -> str | None:
        worker, name = self._worker, guest.name
        if self._members.hosted is None:
            return f"{worker.names[worker.rank]} does not decide who joins"
        if isinstance(self._board, Book) and guest.place is None:
            return f"{name} does not say where it listens"
        holders = [rank for rank, called in worker.names.items() if called == name]
        if not holders:
            return f"no worker of this world was ever called {name}"
        if any(rank not in worker.core.dead for rank in holders):
            return f"{name} is a member, and there is one of that name only"
        return None

    def find(self, guest: Guest) -> Connection | None:
        """Find the connection of a guest. One that has just joined is known by the view that was installed here."""
        with self._worker.lock:
            rank, here = guest.peer.rank, self._worker.core.here
            if guest.peer.purpose == JOINS or rank not in here.workers or rank == here.me:
                return None
            here.lives.setdefault(rank, guest.peer.incarnation)
            return self.connection_to(rank)

    def connection_to(self, peer: WorkerId) -> Connection:
        """Make a connection without a stream to somebody who has joined; it will connect. One to the dead says nothing."""
        worker = self._worker
        if peer not in worker.connections:
            connection = worker.new_connection(peer)
            if peer in worker.core.dead:
                connection.hang_up()
                return connection
            # Others look at all connections without the lock: they go on with those that there were.
            worker.connections = worker.lines.connections = {**worker.connections, peer: connection}
            if peer not in worker.names:
                worker.names[peer] = self._place().name_of(peer)
        return worker.connections[peer]

    def _place(self) -> Board:
        assert self._board is not None, "nobody joins a world without a place"
        return self._board

    def _let_be_called(self, peer: WorkerId) -> None:
        if peer != self._worker.rank:
            self.connection_to(peer)
            self._worker.know(peer)
            name, names = self._worker.names[peer], self._worker.names
            self._succeeded |= {one for one in self._worker.connections if one != peer and names[one] == name}

    def _forget(self) -> None:
        """Keep nothing for whoever is buried and has a successor: a world may lose any number of workers."""
        worker = self._worker
        closed = {peer for peer in self._succeeded if worker.connections[peer].closed}
        if closed:
            self._succeeded -= closed
            worker.connections = worker.lines.connections = {
                peer: connection for peer, connection in worker.connections.items() if peer not in closed
            }
        for peer in closed:
            worker.bodies.forget(peer)
            worker.core.here.loads.pop(peer, None)
            if worker.intake.mending is not None:
                worker.intake.mending.forget(peer)
            for table in (self._said, self._heard, self.suspected, worker.reached):
                table.pop(peer, None)
