"""spec/wire.md: every byte in it is what the code writes, and what the code reads back."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from farref.impl.core.autograd.ids import ContextId, ForwardId, PassId
from farref.impl.core.autograd.messages import (
    Abort,
    Cause,
    CleanupContext,
    Closed,
    Commit,
    Committed,
    Counted,
    Fault,
    Forget,
    Kind,
    Mark,
    PropagateGradients,
    Report,
    Resume,
    Seek,
    Settled,
    Waits,
)
from farref.impl.core.ids import (
    CallId,
    FetchId,
    ForkData,
    ForkId,
    Incarnation,
    RRefId,
    SequenceNumber,
    WorkerId,
)
from farref.impl.core.messages import (
    Ack,
    Call,
    CallFailed,
    ChildAccept,
    Control,
    ControlBody,
    CreateFailed,
    Excluded,
    FetchCall,
    FetchReturn,
    ForkRequest,
    ForwardCall,
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.core.views import Buried, Suspect, View, ViewSettled
from farref.impl.tape import Tensor, tensor
from farref.impl.transport.frames import (
    HEADER,
    Acks,
    Frame,
    Heard,
    HungUp,
    Known,
    Reached,
    Returned,
    read_body,
    read_header,
    write_frame,
)
from farref.impl.transport.handshake import ACCEPTS, CONNECTS, HELLO, Identity, hello, proof, session
from farref.impl.transport.sealed import RECORD, SealedStream, key_for, seal
from farref.impl.values.gradients import write_gradients
from farref.impl.values.tensors import TensorReader, TensorWriter

TEXT = (Path(__file__).parents[3] / "spec" / "wire.md").read_text()
VECTORS = re.findall(r"^\| (.*?) \| `([0-9a-f]+)` \|$", TEXT, re.MULTILINE)

LIFE = Incarnation(5)
X, F0, F1 = RRefId(WorkerId(0), LIFE, 1), ForkId(WorkerId(0), LIFE, 1), ForkId(WorkerId(0), LIFE, 2)
FORK = ForkData(WorkerId(1), X, F1, WorkerId(2), F0)
REFERENCE = object()
CONTEXT, FORWARD = ContextId(WorkerId(0), LIFE, 1), ForwardId(WorkerId(0), LIFE, 2)
PASS = PassId(CONTEXT, WorkerId(0), LIFE, 3, True, False)
GRADIENTS = Counted(Kind.GRADIENTS, WorkerId(1), FORWARD)
TENSOR = tensor([1.0], requires_grad=True)


@dataclass
class Place:
    x: int


class Color(Enum):
    RED = 1


class Point(NamedTuple):
    x: int


def add() -> None:
    pass


NAMED: dict[str, Any] = {"m:Place": Place, "m:Color": Color, "m:Point": Point, "m:add": add}
for one in NAMED.values():
    one.__module__ = "m"


def write(value: object) -> bytes:
    return TensorWriter(lambda item: 0 if item is REFERENCE else None).write(value)


def control(number: int, lowest: int, body: ControlBody) -> Control:
    return Control(LIFE, SequenceNumber(number), SequenceNumber(lowest), body)


ERROR = msgspec.msgpack.encode(["builtins", "ValueError", "no", "", "B", "m:f"])

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
    Acks((Ack(LIFE, SequenceNumber(1)), Ack(LIFE, SequenceNumber(2)))),
    Reached(2),
    Returned((0, 65536)),
    HungUp("no"),
    Excluded(2, "no"),
    Heard(40_000),
    Known(WorkerId(3), "A", "::1", 29500),
    ForwardCall(CONTEXT, FORWARD, 1, Call(CallId(7), "m:f", (), write([[TENSOR], {}]))),
    control(5, 5, PropagateGradients(PASS, FORWARD, write_gradients((np.ones(1), None)))),
    control(6, 5, Mark(PASS, FORWARD)),
    control(7, 5, Seek(PASS)),
    control(8, 5, Resume(PASS)),
    control(9, 5, Report(PASS, GRADIENTS, (Counted(Kind.MARK, WorkerId(0), FORWARD),), (Waits(FORWARD, "m:f"),), None)),
    control(10, 5, Report(PASS, GRADIENTS, (), None, Fault(Cause.BUSY, WorkerId(1), "no"))),
    control(11, 5, Commit(PASS)),
    control(12, 5, Committed(PASS)),
    control(13, 5, Abort(PASS)),
    control(14, 5, CleanupContext(CONTEXT)),
    control(15, 5, Closed(CONTEXT, {WorkerId(1): 2}, {WorkerId(0): 1}, {})),
    control(16, 5, Settled(CONTEXT, WorkerId(1), WorkerId(2))),
    control(17, 5, Forget(CONTEXT, (WorkerId(2),))),
    control(18, 5, View(2, 4, ((WorkerId(1), "no"),))),
    control(19, 5, ViewSettled(2)),
    control(20, 5, Buried(2)),
    control(21, 5, Suspect(WorkerId(1), "no")),
    RemoteCall(X, F0, "m:f", (), write([[1], {"n": 2}])),
    Return(CallId(7), True, (), ERROR),
    Ack(Incarnation(2**60 + 1), SequenceNumber(1)),
]
SEGMENTED = np.arange(4096, dtype=np.uint8)
VALUES: list[object] = [
    None, [1, 2.5, "a", b"b"], (1,), {1}, frozenset({1}), 2**64, 1 + 2j, {"a": 1}, {1: 2},
    np.arange(2, dtype=np.float32), np.int8(-1), REFERENCE, TENSOR, CONTEXT, bytearray(b"b"),
    Place(1), Color.RED, Point(1), add,
]  # fmt: skip


def vectors(first: str, count: int) -> list[bytes]:
    start = next(number for number, (label, _) in enumerate(VECTORS) if label.startswith(first))
    return [bytes.fromhex(data) for _, data in VECTORS[start : start + count]]


def test_the_document_has_every_vector() -> None:
    assert len(VECTORS) == 8 + len(MESSAGES) + 1 + len(VALUES)


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


def test_a_frame_with_a_segment() -> None:
    """The head of the frame stands in the document: the rest is the array and no more."""
    writer = TensorWriter(lambda _: None)
    body = writer.write(SEGMENTED)
    frame = b"".join(map(bytes, write_frame(Return(CallId(7), False, (), body), writer.segments)))
    [documented] = vectors("`Return` 7: 4096 bytes", 1)
    assert frame == documented + SEGMENTED.tobytes()


def test_values() -> None:
    for value, data in zip(VALUES, vectors("nothing", len(VALUES)), strict=True):
        assert write(value) == data
        reader = TensorReader(lambda _: REFERENCE)
        reader.resolve = NAMED.__getitem__
        read = reader.read(data)
        if isinstance(value, Tensor):
            assert read.requires_grad
            read, value = read.data, value.data
        np.testing.assert_equal(read, value)


def test_every_message_has_its_row() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| `(\w+)` \| [^|]+ \|$", TEXT, re.MULTILINE))
    tags = {str(message.__struct_config__.tag): type(message).__name__ for message in MESSAGES}
    assert rows == tags
