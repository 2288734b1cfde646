"""Large arrays in shared memory: looked at and not copied, returned when nobody looks, and nothing is left of it."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from msgspec.msgpack import Ext, encode

from farref.impl import Cluster, PeerDied, launch, remote, rpc_async, rpc_sync
from farref.impl.api import current
from farref.impl.core.ids import WorkerId
from farref.impl.errors import WireError
from farref.impl.values.arena import ARRAY_BYTES_MIN, Arena, Window
from farref.impl.values.arrays import CODES
from farref.impl.values.codec import SHARED, Reader, Writer
from tests.impl.far import arrays as far_arrays
from tests.impl.far import references as far

FAR = ["tests.impl.far.references", "tests.impl.far.arrays"]

PEER, OTHER = WorkerId(1), WorkerId(2)
SIZE = 4 * ARRAY_BYTES_MIN
FLOATS = np.arange(20_000, dtype=np.float64)


def eventually_nothing_is_lent(seconds: float = 5.0) -> None:
    arena, deadline = current().arena, time.monotonic() + seconds
    assert arena is not None
    while arena.lent:
        assert time.monotonic() < deadline, arena.lent
        time.sleep(0.01)


# Without processes


@pytest.fixture
def arena() -> Iterator[Arena]:
    arena = Arena(SIZE)
    yield arena
    arena.close()


def window_to(arena: Arena) -> Window:
    return Window(os.dup(arena.descriptor))


def test_a_room_is_returned_when_the_last_view_of_it_goes(arena: Arena) -> None:
    window = window_to(arena)
    array = np.arange(10_000.0).reshape(100, 100)
    place = arena.lend(array.T, PEER)
    assert place is not None
    view = window.view(place, array.dtype, array.size).reshape(array.shape)
    np.testing.assert_array_equal(view, array.T)
    part = view[3:5, ::2]
    del view
    assert not window.returned
    np.testing.assert_array_equal(part, array.T[3:5, ::2])
    del part
    assert list(window.returned) == [place]
    arena.take_back(PEER, window.returned)
    assert arena.lend(array, PEER) == place


class Process:
    """A peer's process, which has ended or not."""

    ended = False

    def has_ended(self) -> bool:
        return self.ended

    def close(self) -> None:
        pass


def test_a_full_arena_lends_nothing_until_something_comes_back() -> None:
    one, other = Process(), Process()
    arena = Arena(SIZE, {PEER: one, OTHER: other})
    array = np.zeros(ARRAY_BYTES_MIN, np.uint8)
    places = [arena.lend(array, PEER) for _ in range(4)]
    assert sorted(place for place in places if place is not None) == [n * ARRAY_BYTES_MIN for n in range(4)]
    assert arena.lend(array, PEER) is None
    other.ended = True
    arena.lose(OTHER)
    assert arena.lend(array, PEER) is None
    arena.lose(PEER)
    assert arena.lend(array, OTHER) is None, "it may still look"
    one.ended = True
    arena.take_back_from_ended()
    assert arena.lend(array, OTHER) in places
    arena.close()


def test_a_peer_returns_only_what_it_has_and_once(arena: Arena) -> None:
    place = arena.lend(np.zeros(10_000), PEER)
    assert place is not None
    for peer, places in ((OTHER, [place]), (PEER, [place + 1]), (PEER, [place, place])):
        with pytest.raises(WireError, match="does not have"):
            arena.take_back(peer, places)


def test_places_outside_and_twice_are_refused(arena: Arena) -> None:
    window, dtype = window_to(arena), np.dtype("<f4")
    count = ARRAY_BYTES_MIN // 4
    for place, length in ((SIZE, 1), (SIZE - ARRAY_BYTES_MIN, count + 1), (8, 1), (0, SIZE), (2**63, 1)):
        with pytest.raises(WireError, match="outside"):
            window.view(place, dtype, length)
    view = window.view(0, dtype, count)
    with pytest.raises(WireError, match="still looked at"):
        window.view(0, dtype, count)
    assert not view.flags.writeable


def test_memory_that_could_shrink_is_refused() -> None:
    descriptor = os.memfd_create("shrinks", os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, SIZE)
    with pytest.raises(WireError, match="shorter"):
        Window(descriptor)


def test_nobody_can_write_through_a_window(arena: Arena) -> None:
    with pytest.raises(PermissionError):
        os.pwrite(arena.descriptor, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(arena.descriptor, 0)


def test_a_value_in_shared_memory_without_a_window_is_refused(arena: Arena) -> None:
    body = encode(Ext(SHARED, struct.pack("<BBQQ", CODES[np.dtype("<f8")], 1, 20_000, 0)))
    with pytest.raises(WireError, match="there is none"):
        Reader(lambda _: None).read(body)
    written = Writer(lambda _: None, lend=lambda array: arena.lend(array, PEER)).write(FLOATS)
    assert written == body


# Between processes, each in a world of its own


def test_over_tcp_there_is_no_shared_memory_and_the_same_rule() -> None:
    with launch(["A"], allow=FAR, transport="tcp"):
        assert current().arena is None
        back = rpc_sync("A", far.echo, [FLOATS])
        np.testing.assert_array_equal(back, FLOATS)
        assert not back.flags.writeable


@pytest.mark.parametrize("transport", ["unix", "tcp"])
def test_copies_can_be_written_to(transport: str) -> None:
    with launch(["A"], allow=FAR, transport=transport, copy_arrays=True):  # type: ignore[arg-type]
        back = rpc_sync("A", far_arrays.increase, [FLOATS])
        back += 1
        np.testing.assert_array_equal(back, FLOATS + 2)
        if transport == "unix":
            eventually_nothing_is_lent()


def test_a_killed_peer_returns_all_and_leaves_nothing() -> None:
    with launch(["A", "B"], allow=FAR, shutdown_timeout=1) as world:
        place = Path("/dev/shm")
        before = set(place.iterdir()) if place.exists() else set()
        kept = rpc_sync("A", far.echo, [FLOATS])
        running = rpc_async("A", far.slow, [10, FLOATS])
        rpc_sync("B", far.echo)
        assert current().arena.lent  # type: ignore[union-attr]
        world.kill("A")
        with pytest.raises(PeerDied):
            running.wait()
        eventually_nothing_is_lent()
        np.testing.assert_array_equal(kept, FLOATS)
        assert (set(place.iterdir()) if place.exists() else set()) <= before


def test_a_peer_that_returns_what_it_does_not_have_is_cut_off() -> None:
    with launch(["A", "B"], allow=FAR, shutdown_timeout=1):
        with suppress(PeerDied):  # B may have told of A before its answer is read
            rpc_sync("A", far_arrays.return_room, ["B", 12 * ARRAY_BYTES_MIN])
        with pytest.raises(PeerDied, match="worker A died"):
            rpc_sync("B", far.nested, [["A"], 1])
        assert rpc_sync("B", far.echo, [FLOATS]).shape == FLOATS.shape


# Between processes, all in one world


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A", "B"], allow=FAR, rpc_timeout=10) as cluster:
        yield cluster


def test_large_arrays_are_views_that_nobody_can_write_to(world: Cluster) -> None:
    assert world
    back = rpc_sync("A", far.echo, [FLOATS])
    np.testing.assert_array_equal(back, FLOATS)
    assert not back.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        back += 1
    with pytest.raises(ValueError, match="read-only"):
        rpc_sync("A", far_arrays.increase, [FLOATS])
    assert far_arrays.is_shared(back)
    assert rpc_sync("A", far_arrays.is_shared, [FLOATS])


def test_rooms_come_back_and_are_used_again(world: Cluster) -> None:
    assert world
    for _ in range(200):
        np.testing.assert_array_equal(rpc_sync("A", far.echo, [FLOATS]), FLOATS)
    eventually_nothing_is_lent()
    arena = current().arena
    assert arena is not None
    assert sum(map(len, arena._free.values())) < 20
    rpc_sync("A", far.slow, [0.2])
    assert not rpc_sync("A", far_arrays.lent)


def test_what_is_kept_elsewhere_stays_as_it_was(world: Cluster) -> None:
    assert world
    kept = [remote("A", far.echo, [FLOATS + number]) for number in range(5)]
    fetched = [rref.to_here() for rref in kept]
    for number, array in enumerate(fetched):
        np.testing.assert_array_equal(array, FLOATS + number)
    del kept, fetched, array
    eventually_nothing_is_lent()


def test_a_value_that_cannot_be_written_lends_nothing(world: Cluster) -> None:
    assert world
    with pytest.raises(TypeError, match="cannot travel"):
        rpc_sync("A", far.echo, [[FLOATS, object()]])
    with pytest.raises(TypeError, match="limit"):
        rpc_sync("A", far.echo, [[np.zeros(40_000_000, np.uint8), np.zeros(40_000_000, np.uint8)]])
    eventually_nothing_is_lent()


def test_arrays_travel_in_frames_when_there_is_no_room(world: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert world
    monkeypatch.setattr(current().arena, "_find", lambda _: None)
    back = rpc_sync("A", far.echo, [FLOATS])
    np.testing.assert_array_equal(back, FLOATS)
    assert not rpc_sync("A", far_arrays.is_shared, [FLOATS])
