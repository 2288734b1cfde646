"""Who takes part, between real processes: what is suspected, what the authority decides, and what follows (R35 to R44).

A worker that sees a peer fail tells the authority, and does nothing else about it (`suspect`). Rank 0 hosts the authority. It
excludes whomever it is advised to: members advise it only when they are certain, or when `silence_seconds` have passed. What
ends a wait is a view that was installed, and nothing before.

If the authority's own worker is lost, nobody is excluded any more. It is dead to those who see it end (R34), so that nobody
waits for its answers; nothing that it held is let go.

A peer that says nothing is told apart from one that has nothing to say by a word on idle links, `Heard`, four times in
`silence_seconds`. All methods are for whoever has the worker's lock, unless they say otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from farref.impl.core.authority import Authority
from farref.impl.core.effects import Fenced, Joined, KeepAuthority, Lost, MembersEffect, Suspected
from farref.impl.core.ids import WorkerId
from farref.impl.errors import PeerDied, WasExcluded
from farref.impl.transport.doorway import Guest
from farref.impl.transport.handshake import JOINS
from farref.impl.transport.joining import Admission
from farref.impl.transport.joining import admit as tell_admitted
from farref.impl.transport.mesh import leave_name
from farref.impl.worker.connection import NOW, Connection

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

WORDS: Final = 4
"""How often an idle worker says something in the time after which silence is suspicious."""
PAUSE_S: Final = 1.0
"""If so much time passes between two ticks, this worker was stopped itself, and nobody else's silence means anything."""
STATE: Final = "authority"


class Membership:
    """The members of a world, for one worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker, self._members = worker, worker.core.members
        self._silence = worker.settings.silence_seconds
        self._directory: Path | None = None
        """Where the world meets. Without one there is no authority, and a peer that fails is dead (R34)."""
        self.suspected: dict[WorkerId, str] = {}
        self.refused: set[WorkerId] = set()
        """Peers that sent what no honest peer sends: nothing is taken from them until a view excludes them."""
        self._heard: dict[WorkerId, tuple[int, float]] = {}
        """How much had come from each peer, and since when it has been so much."""
        self._said: dict[WorkerId, tuple[int, float]] = {}
        self._last = 0.0

    def begin(self, directory: Path) -> None:
        """Take part in a world that has met. Not under the lock."""
        self._directory = directory
        if self._worker.rank == self._members.authority:
            (directory / STATE).unlink(missing_ok=True)  # of another world that met here
            with self._worker.lock:
                self._worker.perform(self._members.host(Authority(len(self._worker.names))))

    # What goes wrong

    def suspect(self, peer: WorkerId, reason: str) -> bool:
        """Advise the authority that a peer cannot take part any more. Say whether there is an authority to decide that."""
        if self._directory is None or peer == self._members.authority or self._worker.closed:
            return False
        if peer not in self.suspected:
            self.suspected[peer] = reason
            self._worker.perform(self._members.suspect(peer, reason))
        return True

    def tick(self, now: float) -> None:
        """Say something where nothing else was said, and suspect whoever has said nothing."""
        was_stopped, self._last = now - self._last > PAUSE_S, now
        if not self._silence or self._directory is None or self._worker.closing:
            return
        for peer, connection in self._worker.connections.items():
            if peer not in self._members.since and not connection.dead:
                self._say_something(connection, now)
                if peer != self._members.authority:  # while it is silent, nobody decides anything (R35)
                    self._listen(peer, connection, now, was_stopped)

    def _say_something(self, connection: Connection, now: float) -> None:
        said, since = self._said.get(connection.peer, (-1, now))
        if said != connection.kept.end:
            self._said[connection.peer] = (connection.kept.end, now)
        elif now - since > self._silence / WORDS and not connection.broken and not connection.outbox:
            connection.say_heard(NOW)

    def _listen(self, peer: WorkerId, connection: Connection, now: float, was_stopped: bool) -> None:
        heard, since = self._heard.get(peer, (-1, now))
        if heard != connection.taken or was_stopped:
            self._heard[peer] = (connection.taken, now)
        elif now - since > self._silence:
            self._worker.declare_dead(peer, f"it has said nothing for {self._silence:g} s (silence_seconds)")

    # What is decided

    def perform(self, effect: MembersEffect) -> None:
        """Do what a step about members asks for."""
        match effect:
            case Suspected(peer, _, reason):
                self._worker.perform(self._members.exclude([peer], reason))
            case KeepAuthority(state):
                self._keep(state)
            case Lost(peer, reason):
                self.lose(peer, reason)
            case Fenced():
                self._worker.closing = True  # and everybody else is lost to this worker in the same step
            case Joined(peer):
                self._let_be_called(peer)

    def lose(self, peer: WorkerId, reason: str) -> None:
        """Hang up on a peer that is excluded, or dead, and end the calls to it (R37)."""
        worker = self._worker
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
            reason = self._objection(name)
            if reason is not None:
                tell_admitted(guest, reason)
                return
            newcomer = WorkerId(len(worker.core.workers))
            leave_name(self._place(), newcomer, name)
            worker.names[newcomer] = name
            worker.core.here.lives[newcomer] = guest.peer.incarnation
            _, view, effects = self._members.admit()
            worker.perform(effects)
            lives = {**worker.core.here.lives, worker.rank: worker.core.incarnation}
            tell_admitted(guest, Admission(newcomer, view, self._members.buried, dict(worker.names), lives))

    def _objection(self, name: str) -> str | None:
        worker = self._worker
        if self._members.hosted is None:
            return f"{worker.names[worker.rank]} does not decide who joins"
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
        """Make a connection without a stream to somebody who has joined; it will connect."""
        worker = self._worker
        if peer not in worker.connections:
            connection = worker.new_connection(peer)
            # Others look at all connections without the lock: they go on with those that there were.
            worker.connections = worker.lines.connections = {**worker.connections, peer: connection}
            if peer not in worker.names:
                worker.names[peer] = (self._place() / f"{peer}.name").read_text()
        return worker.connections[peer]

    def _place(self) -> Path:
        assert self._directory is not None, "nobody joins a world without a place"
        return self._directory

    def _let_be_called(self, peer: WorkerId) -> None:
        if peer != self._worker.rank:
            self.connection_to(peer)
            self._worker.know(peer)

    def _keep(self, state: bytes) -> None:
        """Write down what the authority must not forget, before anybody hears of it. A full disk costs only a restart."""
        if self._directory is not None:
            draft, place = self._directory / f".{STATE}", self._directory / STATE
            try:
                draft.write_bytes(state)
                os.replace(draft, place)
            except OSError:
                pass
