"""spec/wire.md: every byte in it is what the code writes, and what the code reads back."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import numpy as np

from farref.impl.handshake import ACCEPTS, CONNECTS, HELLO, Identity, hello, proof, session
from farref.impl.ids import CallId, FetchId, ForkData, ForkId, Incarnation, RRefId, SequenceNumber, WorkerId
from farref.impl.messages import (
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    Control,
    ControlBody,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.sealed import RECORD, SealedStream, key_for, seal
from farref.impl.values import Reader, Writer
from farref.impl.wire import HEADER, Frame, Reached, Returned, read_body, read_header, write_frame

TEXT = (Path(__file__).parents[2] / "spec" / "wire.md").read_text()
VECTORS = re.findall(r"^\| (.*?) \| `([0-9a-f]+)` \|$", TEXT, re.MULTILINE)

LIFE = Incarnation(5)
X, F0, F1 = RRefId(WorkerId(0), LIFE, 1), ForkId(WorkerId(0), LIFE, 1), ForkId(WorkerId(0), LIFE, 2)
FORK = ForkData(WorkerId(1), X, F1, WorkerId(2), F0)
REFERENCE = object()


def write(value: object) -> bytes:
    return Writer(lambda item: 0 if item is REFERENCE else None).write(value)


def control(number: int, lowest: int, body: ControlBody) -> Control:
    return Control(LIFE, SequenceNumber(number), SequenceNumber(lowest), body)


MESSAGES: list[Frame] = [
    RemoteCall(X, F0, "m:f", (), write([[1], {}])),
    UserAccept(X, F0),
    Call(CallId(7), "m:g", (FORK,), write([[REFERENCE], {}])),
    Return(CallId(7), False, (), write("done")),
    CallFailed(CallId(7), (FORK,), "no"),
    FetchCall(X, F0, FetchId(3)),
    FetchReturn(X, F0, FetchId(3), False, (), write(3)),
    control(1, 1, ForkRequest(X, F1)),
    control(2, 1, ChildAccept(X, F1)),
    control(3, 2, UserDelete(X, F1)),
    control(4, 2, CreateFailed(X, F0, "no")),
    Ack(LIFE, SequenceNumber(1)),
    Reached(2),
    Returned((0, 65536)),
]
VALUES: list[object] = [
    None, [1, 2.5, "a", b"b"], (1,), {1}, frozenset({1}), 2**64, 1 + 2j, {"a": 1}, {1: 2},
    np.arange(2, dtype=np.float32), np.int8(-1), REFERENCE,
]  # fmt: skip


def vectors(first: str, count: int) -> list[bytes]:
    start = next(number for number, (label, _) in enumerate(VECTORS) if label.startswith(first))
    return [bytes.fromhex(data) for _, data in VECTORS[start : start + count]]


def test_the_document_has_every_vector() -> None:
    assert len(VECTORS) == 8 + len(MESSAGES) + len(VALUES)


KEY = bytes(range(32))
CONNECTING = hello(Identity(WorkerId(1), Incarnation(5), bytes(16), KEY), b"\xaa" * 32)
ACCEPTING = hello(Identity(WorkerId(0), Incarnation(6), bytes(16), KEY), b"\xbb" * 32)


def test_handshake() -> None:
    key, connects, accepts = KEY, CONNECTING, ACCEPTING
    proofs = [proof(key, CONNECTS, connects, accepts), proof(key, ACCEPTS, accepts, connects)]
    assert [connects, accepts, *proofs] == vectors("hello of the connecting", 4)
    assert HELLO.size == 72


def test_records() -> None:
    secret = session(KEY, CONNECTING, ACCEPTING)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        connects, accepts = (key_for(secret, role) for role in (CONNECTS, ACCEPTS))
        SealedStream(ours, connects, accepts).sendmsg([b"first"])
        one = theirs.recv(1000)
        SealedStream(theirs, accepts, connects).sendmsg([b"fi", b"rst"])
        two = RECORD.pack(6, seal(connects, 1, b"second")) + b"second"
        assert [secret, one, two, ours.recv(1000)] == vectors("session", 4)


def test_messages() -> None:
    for message, frame in zip(MESSAGES, vectors("`RemoteCall`", len(MESSAGES)), strict=True):
        assert write_frame(message, []) == [frame]
        total, body = read_header(frame)
        assert total == body == len(frame) - HEADER.size
        assert read_body(frame[HEADER.size :]) == message


def test_values() -> None:
    for value, data in zip(VALUES, vectors("nothing", len(VALUES)), strict=True):
        assert write(value) == data
        np.testing.assert_equal(Reader(lambda _: REFERENCE).read(data), value)


def test_every_message_has_its_row() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| `(\w+)` \| [^|]+ \|$", TEXT, re.MULTILINE))
    tags = {str(message.__struct_config__.tag): type(message).__name__ for message in MESSAGES}
    assert rows == tags
