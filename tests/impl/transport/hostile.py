"""Frames that nobody should send: good ones, and what can be done to them. All from one `Random`, so a seed says it all."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import msgspec
import numpy as np
from msgspec.msgpack import Ext

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
    WRAPPED,
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
    RemoteCall,
    Return,
    UserAccept,
    UserDelete,
)
from farref.impl.core.views import Buried, Suspect, View, ViewSettled
from farref.impl.settings import FRAME_BYTES_MAX
from farref.impl.transport.frames import (
    HEADER,
    Acks,
    Frame,
    Heard,
    HungUp,
    Known,
    Reached,
    Returned,
    write_frame,
)
from farref.impl.values.tensors import TensorWriter
from tests.impl.transport import hostile_autograd

VICTIM, PEER, LIFE = WorkerId(0), WorkerId(1), Incarnation(5)
NUMBERS_MAX: Final = 20
CONTROLS_MAX: Final = 5000
"""Numbers of control messages come from so many that most are new to the victim, and some outside the window (R7)."""
REFERENCE: Final = object()


def value(random: Random, depth: int = 3) -> object:
    """Make some value that may travel."""
    leaves: list[Callable[[], object]] = [
        lambda: None,
        lambda: random.randrange(-(2**70), 2**70),
        lambda: random.random(),
        lambda: random.randbytes(random.randrange(20)),
        lambda: "é" * random.randrange(9),
        lambda: complex(1, 2),
        lambda: np.ones(random.choice([0, 7, 2000]), random.choice(["<f8", "<i2", "?"])),
        lambda: np.float32(1),
        lambda: REFERENCE,
        lambda: hostile_autograd.some_tensor(random),
        lambda: hostile_autograd.context_id(random),
    ]
    nodes: list[Callable[[], object]] = [
        lambda: [value(random, depth - 1) for _ in range(random.randrange(4))],
        lambda: (value(random, depth - 1), value(random, depth - 1)),
        lambda: {"k": value(random, depth - 1), 1: 2},
        lambda: {random.randrange(5), "x"},
    ]
    return random.choice(leaves + nodes if depth else leaves)()


def control(random: Random, rref: RRefId, fork: ForkId) -> Control:
    """Make some control message, of either protocol."""
    bodies: list[ControlBody] = [ForkRequest(rref, fork), ChildAccept(rref, fork), UserDelete(rref, fork)]
    bodies.append(CreateFailed(rref, fork, "no"))
    view = random.randrange(3)
    orders: list[ControlBody] = [View(view, 2, ((PEER, "no"),) * random.randrange(2)), ViewSettled(view), Buried(view)]
    members = random.choice([*orders, Suspect(PEER, "no")])
    body = random.choice([*bodies, *[hostile_autograd.body(random)] * len(bodies), members])
    return Control(
        LIFE, SequenceNumber(random.randrange(CONTROLS_MAX)), SequenceNumber(random.choice([1, 1, 50])), body
    )


def message(random: Random) -> tuple[Frame, list[memoryview]]:
    """Make some message of a peer, with forks and numbers that may or may not be its own."""
    rref = RRefId(random.choice([VICTIM, PEER]), LIFE, random.randrange(NUMBERS_MAX))
    fork = ForkId(random.choice([VICTIM, PEER]), LIFE, random.randrange(NUMBERS_MAX))
    parent = random.choice([None, ForkId(PEER, LIFE, random.randrange(NUMBERS_MAX))])
    forks = (ForkData(random.choice([VICTIM, PEER]), rref, fork, VICTIM, parent),) * random.randrange(2)
    writer = TensorWriter(lambda item: 0 if item is REFERENCE else None)
    arguments = [[value(random)], {"name": value(random)}]
    body = writer.write(random.choice([arguments, arguments, value(random)]))
    fetch, call = FetchId(random.randrange(NUMBERS_MAX)), CallId(random.randrange(NUMBERS_MAX))
    answers = [Ack(LIFE, SequenceNumber(random.randrange(NUMBERS_MAX))) for _ in range(random.randrange(1, 40))]
    made: list[Frame] = [
        RemoteCall(rref, fork, "m:f", forks, body),
        UserAccept(rref, fork),
        Call(call, "m:f", forks, body),
        Return(call, random.random() < 0.3, forks, body),
        CallFailed(random.choice([None, call]), forks, "no"),
        FetchCall(rref, fork, fetch),
        FetchReturn(rref, fork, fetch, random.random() < 0.3, forks, body),
        *[control(random, rref, fork) for _ in range(3)],
        answers[0],
        Acks(tuple(answers)),
        Reached(1),
        HungUp("no"),
        Excluded(1, "no"),
        Heard(random.randrange(10_000)),
        Known(WorkerId(random.randrange(4)), "A", "127.0.0.1", random.randrange(2**16)),
        Returned((random.randrange(NUMBERS_MAX),)),
    ]
    chosen = random.choice(made)
    if isinstance(chosen, WRAPPED) and random.random() < 0.4:
        chosen = hostile_autograd.forwarded(random, chosen, len(writer.tensors))
    return chosen, writer.segments if random.random() < 0.8 else []


def frame(random: Random) -> bytes:
    """Make some good frame."""
    return b"".join(bytes(piece) for piece in write_frame(*message(random)))


def flipped(random: Random, data: bytes) -> bytes:
    """Flip a few bits."""
    damaged = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8])):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def cut(random: Random, data: bytes) -> bytes:
    """Cut off the end."""
    return data[: random.randrange(len(data))]


def noise(random: Random, _: bytes) -> bytes:
    """Send anything at all; half of the time behind a header that fits."""
    data = random.randbytes(random.randrange(1, 200))
    return HEADER.pack(len(data), len(data)) + data if random.random() < 0.5 else data


def oversized(random: Random, data: bytes) -> bytes:
    """Promise more than comes, up to more than is allowed."""
    total = random.choice([FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 2**32 - 1, random.randrange(2**32)])
    return HEADER.pack(total, random.choice([1, total, random.randrange(2**32)])) + data[HEADER.size :]


def deep(random: Random, _: bytes) -> bytes:
    """Nest arrays, maps or extensions as deep as a frame allows."""
    levels = random.choice([50, 500, 5000])
    nested = b"\x91" * levels if random.random() < 0.5 else b"\xc0"
    for _level in range(0 if nested[0] == 0x91 else min(levels, 500)):
        nested = msgspec.msgpack.encode(Ext(random.choice([4, 6, 11]), nested))
    body = msgspec.msgpack.encode([3, 1, "m:f", [], nested])
    return HEADER.pack(len(body), len(body)) + body


def spliced(random: Random, data: bytes) -> bytes:
    """Put the end of one frame behind the beginning of another."""
    return cut(random, data) + frame(random)[random.randrange(8) :]


def untouched(_: Random, data: bytes) -> bytes:
    """Send a good frame that nobody expects."""
    return data


DAMAGES: Final = (flipped, flipped, cut, noise, oversized, deep, spliced, untouched)
