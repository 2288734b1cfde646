"""How a stream is put in the place of one that broke, a step at a time, between workers without threads (Z4, Z5)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from farref.impl.core.ids import Incarnation
from farref.impl.transport.again import TAKEN, Gone
from farref.impl.transport.doorway import Guest
from farref.impl.transport.handshake import AGAIN, Identity, Peer
from farref.impl.worker.mending import Break, Mending
from farref.impl.worker.worker import Worker
from tests.impl.far import references as far
from tests.impl.worker.unthreaded import A, B, Pair, read

LIFE = Incarnation(7)


class Nowhere:
    """A place to meet from which somebody just leaves."""

    board: Any = None

    def withdraw(self, *_: object) -> None:
        """Do nothing."""


@pytest.fixture
def mended(pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """Two workers that make streams again. No thread begins to: what it would begin with is seen in `started`."""
    monkeypatch.setattr(Mending, "_start", _note)
    meeting: Any = Nowhere()
    meeting.board = meeting
    for worker, peer in zip(pair, (B, A), strict=True):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / str(worker.rank)))
        listener.listen()
        worker.core.here.lives[peer] = LIFE
        worker.intake.mend_with(Mending(worker, meeting, Identity(worker.rank, LIFE, b"w" * 16, b"k" * 32), listener))
    yield pair
    for worker in pair:
        mending_of(worker).close()


def _note(mending: Mending, connection: Any, reason: str) -> None:
    mending.breaks[connection.peer] = reason, connection.taken  # type: ignore[assignment]


def mending_of(worker: Worker) -> Mending:
    assert worker.intake.mending is not None
    return worker.intake.mending


def knocks(worker: Worker, epoch: int) -> socket.socket:
    """Have a peer of a higher rank shake hands for a new stream, and give its end."""
    ours, theirs = socket.socketpair()
    guest = Guest(Peer(B, LIFE, b"", AGAIN), ours, epoch, worker.connections[B].kept.end)
    mending_of(worker)._door._admitted.put(guest)
    return theirs


def test_two_who_have_shaken_hands_before_one_look_are_both_let_in(mended: Pair) -> None:
    """Whoever reads is roused twice and looks once: the second would wait until something else happens."""
    first, second = knocks(mended[0], 1), knocks(mended[0], 2)
    with first, second:
        read(mended[0])  # nothing has happened yet
        mended[0].reactor.rouse_reader()
        mended[0].reactor.rouse_reader()
        read(mended[0])
        second.setblocking(False)
        assert TAKEN.unpack(second.recv(TAKEN.size)) == (mended[0].connections[B].taken,)
        assert mended[0].connections[B].epoch == 2


def test_a_stream_is_not_made_again_while_the_old_one_is_still_read_from(mended: Pair) -> None:
    """A write failed on another thread, between two steps of a tick. The count that is told must have what is read then."""
    a, b = mended
    a.call(B, far.echo, [1], {}, 5.0)
    a.flush(0)
    b.connections[A].broken = True
    mending_of(b).tick()
    b.intake.turn(0.0)  # what had come is read
    with suppress(OSError):
        b.connections[A].stream.shutdown(socket.SHUT_RDWR)
    read(b)
    begun: Any = mending_of(b).breaks[A]
    assert begun[1] == b.connections[A].taken > 0


def test_a_new_stream_takes_the_place_of_one_that_only_writing_has_found_broken(mended: Pair) -> None:
    """The old one is closed, and nothing that was watched for it is watched for the new one (Z5)."""
    a, _ = mended
    old = a.connections[B].stream
    a.connections[B].broken = True
    with knocks(a, 1):
        mending_of(a).look()
        assert old.fileno() == -1
        assert [one for one in a.intake._by_descriptor.values() if one is a.connections[B]] == [a.connections[B]]


def test_what_lies_unread_in_the_old_stream_is_not_taken_after_the_count_was_told(mended: Pair) -> None:
    a, b = mended
    b.call(A, far.echo, [1], {}, 5.0)
    b.flush(0)
    with knocks(a, 1) as theirs:
        mending_of(a).look()
        read(a)
        assert TAKEN.unpack(theirs.recv(TAKEN.size)) == (0,) == (a.connections[B].taken,)


def test_a_stream_with_a_lower_number_than_there_is_is_turned_away(mended: Pair) -> None:
    with knocks(mended[0], 2), knocks(mended[0], 1) as late:
        mending_of(mended[0]).look()
        assert late.recv(TAKEN.size) == b""
        assert mended[0].connections[B].epoch == 2
        assert not mended[0].connections[B].broken


@pytest.mark.parametrize("has_met", [True, False])
def test_somebody_who_has_just_joined_and_does_not_listen_yet_is_waited_for(
    mended: Pair, monkeypatch: pytest.MonkeyPatch, has_met: bool
) -> None:
    """Whoever was met and listens no more has ended (Z10)."""
    a, _ = mended
    outcomes = iter([False, False, True])

    def reach(*_: object) -> bool:
        if next(outcomes):
            return True
        raise Gone

    monkeypatch.setattr(Mending, "_try", reach)
    connection, mine = a.connections[B], Break("it broke")
    connection.has_met = has_met
    mending_of(a).breaks[B] = mine
    mending_of(a)._mend(connection, mine)
    assert (B in a.core.dead) == has_met
