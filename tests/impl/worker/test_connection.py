"""One stream of frames, however its bytes come."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from farref.impl.core.ids import CallId, WorkerId
from farref.impl.core.messages import Call
from farref.impl.settings import FRAME_BYTES_MAX
from farref.impl.transport.frames import read_body, write_frame
from farref.impl.worker.connection import LATER, NOW, Connection
from farref.impl.worker.halves import READ_BYTES


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, Connection]]:
    ours, theirs = socket.socketpair()
    with ours, theirs, select.epoll() as poller:
        yield ours, Connection(theirs, WorkerId(1), poller, FRAME_BYTES_MAX)


Ends = tuple[socket.socket, Connection]


def frame(size: int, segment: int = 0) -> bytes:
    segments = [np.ones(segment, np.uint8).data] if segment else []
    return b"".join(bytes(piece) for piece in write_frame(Call(CallId(size), "f", (), bytes(size)), segments))


def read(connection: Connection) -> list[tuple[int, int]]:
    """What has arrived: of each frame the length of the body of its call, and of its segments."""
    frames = [(read_body(body), segments) for body, segments in connection.frames()]
    return [(len(call.body), len(behind or b"")) for call, behind in frames if isinstance(call, Call)]


def test_a_peer_that_stops_in_the_middle_of_a_large_frame_keeps_nobody_waiting(ends: Ends) -> None:
    sender, connection = ends
    data = frame(10, segment=3 * READ_BYTES)
    for start in range(0, len(data) - 1, 30_000):
        sender.sendall(data[start : min(start + 30_000, len(data) - 1)])
        assert read(connection) == []
    sender.sendall(data[-1:] + frame(3))
    assert read(connection) + read(connection) == [(10, 3 * READ_BYTES), (3, 0)]


def test_a_peer_that_hangs_up_in_the_middle_of_a_frame_is_heard(ends: Ends) -> None:
    sender, connection = ends
    sender.sendall(frame(2 * READ_BYTES)[:-1])
    assert read(connection) == []
    sender.close()
    with pytest.raises(ConnectionResetError):
        read(connection)


@pytest.mark.parametrize("seed", range(5))
def test_frames_of_all_sizes_come_out_however_the_stream_is_cut(ends: Ends, seed: int) -> None:
    sender, connection = ends
    random = Random(seed)
    sizes = [(random.choice([1, 100, 70_000]), random.choice([0, 0, 5000, 100_000])) for _ in range(30)]
    data = b"".join(frame(*size) for size in sizes)
    came: list[tuple[int, int]] = []
    while data:
        cut = random.choice([1, 7, 8, 100, 60_000])
        sender.sendall(data[:cut])
        data = data[cut:]
        came += read(connection)
    for _ in range(100):
        came += read(connection)
    assert came == [(size, -(-segment // 16) * 16) for size, segment in sizes]


def test_what_may_wait_rides_with_what_may_not(ends: Ends) -> None:
    other, connection = ends
    connection.queue([b"a"], LATER)
    assert connection.hurry == LATER
    connection.queue([b"b"])
    connection.queue([b"c"], LATER)
    assert connection.hurry == NOW
    connection.flush()
    assert (connection.hurry, list(connection.outbox), other.recv(10)) == (LATER, [], b"abc")


def test_what_the_socket_does_not_take_at_once_is_not_copied_again(ends: Ends) -> None:
    """Else the time to send a value would be quadratic in its size."""
    other, connection = ends
    value = bytes(16 * 2**20)
    connection.queue([value])
    connection.flush()
    received = 0
    while connection.outbox:
        assert [piece.obj is value for piece in connection.outbox if isinstance(piece, memoryview)] == [True]
        received += len(other.recv(2**20))
        connection.on_writable()
    while received < len(value):
        received += len(other.recv(2**20))
    assert connection.queued_bytes() == 0
