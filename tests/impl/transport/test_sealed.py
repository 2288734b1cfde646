"""Sealed records: what goes in comes out, and whatever was done to it on the way is found before anything is handed on."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Iterator
from random import Random

import pytest

from farref.impl.core.ids import CallId, WorkerId
from farref.impl.core.messages import Call
from farref.impl.errors import WireError
from farref.impl.settings import FRAME_BYTES_MAX
from farref.impl.transport.frames import read_body, write_frame
from farref.impl.transport.sealed import RECORD, RECORD_BYTES_MAX, SealedStream, seal
from farref.impl.worker.connection import Connection

ONE, OTHER = b"1" * 32, b"2" * 32


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        yield ours, theirs


Ends = tuple[socket.socket, socket.socket]


def sealed(*payloads: bytes, key: bytes = ONE, first: int = 0) -> list[bytes]:
    """The records for some payloads, in their order."""
    return [
        RECORD.pack(len(payload), seal(key, number, payload)) + payload
        for number, payload in enumerate(payloads, first)
    ]


def read_all(stream: SealedStream) -> bytes:
    data = b""
    while True:
        try:
            piece = stream.recv(1000)
        except BlockingIOError:
            return data
        if not piece:
            return data
        data += piece


def test_any_pieces_arrive_as_one_stream_however_little_the_socket_takes(ends: Ends) -> None:
    random = Random(3)
    sender, receiver = SealedStream(ends[0], ONE, OTHER), SealedStream(ends[1], OTHER, ONE)
    pieces: list[bytes | memoryview] = [random.randbytes(random.choice([1, 20, 5000, 200_000])) for _ in range(60)]
    expected, received, blocked = b"".join(pieces), b"", 0
    while pieces or len(received) < len(expected):
        try:
            written = sender.sendmsg(pieces[:5]) if pieces else 0
        except BlockingIOError:
            written, blocked = 0, blocked + 1
        while written:
            taken = min(written, len(pieces[0]))
            pieces[0] = pieces[0][taken:]
            written -= taken
            if not pieces[0]:
                pieces.pop(0)
        if random.random() < 0.5 or not pieces:
            received += read_all(receiver)
    assert received == expected
    assert blocked, "the socket took everything at once: the test is too small"


def test_reading_into_memory_leaves_the_rest_pending(ends: Ends) -> None:
    ends[0].sendall(b"".join(sealed(b"abc", b"def")))
    receiver, memory = SealedStream(ends[1], OTHER, ONE), memoryview(bytearray(4))
    assert receiver.recv_into(memory) == 4
    assert bytes(memory) == b"abcd"
    assert receiver.pending() == 2
    assert receiver.recv(10) == b"ef"
    assert receiver.pending() == 0


def test_a_connection_reads_all_that_was_unsealed_with_a_large_frame(ends: Ends) -> None:
    """A small frame ends in the same record as a large one before it: no more bytes come, and it is read all the same."""
    large, small = (write_frame(Call(CallId(1), "f", (), bytes(size)), [])[0] for size in (100_000, 3))
    with select.epoll() as poller:
        receiver = Connection(SealedStream(ends[1], OTHER, ONE), WorkerId(1), poller, FRAME_BYTES_MAX)
        stream = bytes(large) + bytes(small)
        for record in sealed(*(stream[at : at + RECORD_BYTES_MAX] for at in range(0, len(stream), RECORD_BYTES_MAX))):
            ends[0].sendall(record)
        calls = [read_body(body) for body, _ in receiver.frames()]
    assert [len(call.body) for call in calls if isinstance(call, Call)] == [100_000, 3]


GOOD = sealed(b"first", b"second", b"third")
DAMAGES: dict[str, Callable[[], list[bytes]]] = {
    "repeated": lambda: [GOOD[0], GOOD[0]],
    "left out": lambda: [GOOD[0], GOOD[2]],
    "swapped": lambda: [GOOD[1], GOOD[0]],
    "injected": lambda: [GOOD[0], *sealed(b"evil", key=b"3" * 32, first=1)],
    "sent back": lambda: sealed(b"first", key=OTHER),
    "joined": lambda: [RECORD.pack(11, RECORD.unpack_from(GOOD[0])[1]) + b"firstsecond"],
    "empty": lambda: [RECORD.pack(0, seal(ONE, 0, b""))],
    "too long": lambda: [RECORD.pack(RECORD_BYTES_MAX + 1, bytes(16))],
    "cut": lambda: [GOOD[0], GOOD[1][:-1]],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_was_done_to_records_is_found(damage: str, ends: Ends) -> None:
    ends[0].sendall(b"".join(DAMAGES[damage]()))
    ends[0].close()
    with pytest.raises(WireError):
        read_all(SealedStream(ends[1], OTHER, ONE))


def test_every_bit_of_a_record_matters(ends: Ends) -> None:
    record = GOOD[0]
    for bit in range(8 * len(record)):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            damaged = bytearray(record)
            damaged[bit // 8] ^= 1 << bit % 8
            ours.sendall(damaged)
            ours.close()
            with pytest.raises(WireError):
                read_all(SealedStream(theirs, OTHER, ONE))
    ends[0].sendall(record)
    assert read_all(SealedStream(ends[1], OTHER, ONE)) == b"first"
