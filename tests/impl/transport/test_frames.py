"""Values and frames: everything that may travel comes back as it was, everything else is refused, nothing runs."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import threading
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from farref.impl.core.ids import CallId, Incarnation, WorkerId
from farref.impl.core.messages import Call
from farref.impl.errors import RefusedFunction, RefusedValue, WireError
from farref.impl.functions import Functions, function, name_of
from farref.impl.settings import FRAME_BYTES_MAX
from farref.impl.transport import handshake
from farref.impl.transport.frames import HEADER, read_body, read_header, write_frame
from farref.impl.values.arrays import DTYPES
from farref.impl.values.codec import Reader, Writer


def nothing(_: object) -> None:
    return None


def round_trip(value: object, allow_pickle: bool = False) -> Any:
    writer = Writer(nothing, allow_pickle)
    body = writer.write(value)
    pieces = write_frame(Call(CallId(1), "f", (), body), writer.segments)
    data = b"".join(bytes(piece) for piece in pieces)
    total, length = read_header(data)
    assert len(data) == HEADER.size + total
    message = read_body(data[HEADER.size : HEADER.size + length])
    assert isinstance(message, Call)
    behind = HEADER.size + total - sum(-(-len(s) // 16) * 16 for s in writer.segments)
    return Reader(nothing, memoryview(data)[behind:], allow_pickle).read(message.body)


atoms = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.text() | st.integers() | st.tuples(st.integers(), st.text())
trees = st.recursive(
    atoms | st.complex_numbers(allow_nan=False),
    lambda t: st.lists(t) | st.tuples(t, t) | st.dictionaries(keys, t) | st.frozensets(atoms) | st.sets(st.integers()),
    max_leaves=20,
)


@settings(max_examples=300)
@given(trees)
def test_values_come_back_as_they_were(value: object) -> None:
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value)


@given(st.sampled_from(DTYPES).flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))))
def test_arrays_come_back_as_they_were(array: np.ndarray) -> None:
    back = round_trip([array, {"a": array}])
    np.testing.assert_array_equal(back[0], array)
    assert back[0].dtype == array.dtype


def test_large_arrays_travel_behind_the_body() -> None:
    array, odd = np.arange(5000.0).reshape(50, 100), np.ones(4999, np.uint8)
    back = round_trip((array, odd, array.T, np.float32(2)))
    np.testing.assert_array_equal(back[0], array)
    np.testing.assert_array_equal(back[1], odd)
    np.testing.assert_array_equal(back[2], array.T)
    assert type(back[3]) is np.float32


@pytest.mark.parametrize(
    "value",
    [object(), lambda: 0, np.array([object()]), threading.Lock(), {1: {object()}}],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_code_is_refused(value: object) -> None:
    with pytest.raises(RefusedValue, match="cannot travel"):
        round_trip(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(RefusedValue, match="deeply"):
        round_trip(loop)


class Canary:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("canary",)


def test_pickle_is_never_read_unless_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = msgspec.msgpack.encode(msgspec.msgpack.Ext(10, pickle.dumps(Canary())))
    with pytest.raises(WireError, match="code 10"):
        Reader(nothing).read(body)
    assert not list(tmp_path.iterdir())
    assert round_trip(Path("x"), allow_pickle=True) == Path("x")


def test_a_frame_that_is_too_large_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="limit"):
        read_header(HEADER.pack(FRAME_BYTES_MAX + 1, 1))
    with pytest.raises(WireError, match="acceptable"):
        read_header(HEADER.pack(4, 8))
    with pytest.raises(RefusedValue, match="limit"):
        write_frame(Call(CallId(1), "f", (), bytes(100)), [], limit=50)


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x90", b"\x91\x63", msgspec.msgpack.encode([12, 1]), b"\x91" * 10000])
def test_a_body_that_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        read_body(body)


def test_random_and_damaged_bytes_are_read_or_refused() -> None:
    """60,000 bodies: random, cut short, with flipped bits. Nothing but a message or a WireError comes out."""
    random = Random(1)
    array = np.arange(12.0).reshape(3, 4)
    good = Writer(nothing).write([(1, "two"), {3: {4}}, array, 2**70, [np.int8(3), 1j]])
    frame = b"".join(bytes(p) for p in write_frame(Call(CallId(1), "f", (), good), []))[HEADER.size :]
    for sample in (good, frame):
        for _ in range(10_000):
            damaged = bytearray(sample)
            damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
            for body in (
                bytes(damaged),
                sample[: random.randrange(len(sample))],
                random.randbytes(random.randrange(40)),
            ):
                for read in (Reader(nothing).read, read_body):
                    with contextlib.suppress(WireError):
                        read(body)


# Functions


@function
def registered() -> int:
    return 1


def unregistered() -> int:
    return 2


def test_only_registered_or_allowed_functions_resolve() -> None:
    module = registered.__module__
    assert Functions().resolve(name_of(registered)) is registered
    for name in ("builtins:eval", "os:system", name_of(unregistered), f"{module}:os.mkdir", "", ":", "no.such:thing"):
        with pytest.raises(RefusedFunction):
            Functions().resolve(name)
    allowed = Functions(["farref.impl.functions"])
    assert allowed.resolve("farref.impl.functions:name_of") is name_of
    for name in ("farref.impl.functions:importlib.import_module", "farref.impl.functions:nothing"):
        with pytest.raises(RefusedFunction):
            allowed.resolve(name)
    with pytest.raises(RefusedFunction, match="no name"):
        name_of(lambda: 0)


# Handshake


def identity(rank: int = 0, world: bytes = b"w" * 16, key: bytes = b"k" * 32) -> handshake.Identity:
    return handshake.Identity(WorkerId(rank), Incarnation(7), world, key)


def meet(connecting: handshake.Identity, accepting: handshake.Identity) -> tuple[object, object]:
    ours, theirs = socket.socketpair()
    results: list[object] = [None, None]

    def side(index: int, call: Any, end: socket.socket, who: handshake.Identity) -> None:
        try:
            results[index] = call(end, who)
        except WireError as error:
            results[index] = error
            end.close()

    thread = threading.Thread(target=side, args=(1, handshake.accept, theirs, accepting))
    thread.start()
    side(0, handshake.connect, ours, connecting)
    thread.join()
    ours.close()
    theirs.close()
    return results[0], results[1]


def test_workers_of_one_world_recognise_each_other() -> None:
    left, right = meet(identity(1), identity(2))
    assert isinstance(left, handshake.Peer)
    assert isinstance(right, handshake.Peer)
    assert (left.rank, right.rank) == (2, 1)
    assert left.incarnation == right.incarnation == 7
    assert left.session == right.session
    again, _ = meet(identity(1), identity(2))
    assert isinstance(again, handshake.Peer)
    assert again.session != left.session


def test_a_wrong_key_and_another_world_are_refused() -> None:
    _, refused = meet(identity(1, key=b"x" * 32), identity(2))
    assert "key" in str(refused)
    _, refused = meet(identity(1, world=b"v" * 16), identity(2))
    assert "world" in str(refused)


@pytest.mark.parametrize("noise", [b"GET / HTTP/1.1\r\n\r\n" + bytes(100), b"", b"farref\r\n"])
def test_strangers_and_silent_ones_are_refused_within_the_deadline(
    noise: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "DEADLINE_S", 0.1)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(noise)
        with pytest.raises(WireError):
            handshake.accept(theirs, identity())
