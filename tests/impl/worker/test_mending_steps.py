"""How a stream is put in the place of one that broke, a step at a time, between workers without threads (Z4, Z5)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from farref.impl.core.ids import Incarnation
from farref.impl.transport.again import TAKEN
from farref.impl.transport.doorway import Guest
from farref.impl.transport.handshake import AGAIN, Identity, Peer
from farref.impl.worker.mending import Mending
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
