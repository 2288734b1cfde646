"""Large arrays without a copy on the receiver's side: shared memory that one worker writes and its peers view.

Each worker has one piece of shared memory, its *arena*, and the others see it read-only through a *window*. It is a memory
file without a name, so whatever kills a worker, nothing is left. Both ends know its size, which is sealed: nobody can make
it shorter under a reader, which would kill the reader.

To send an array, its owner copies it into a *room* of the arena and sends the place only. The room is lent to that peer
until it says that it no longer looks: when the last view of the room there is collected. Rooms come in powers of two and are
kept for the next array of about that size, because memory that was touched before is what makes this fast: writing into fresh
pages takes longer than the copy itself. Nothing is ever given back to the system, and the arena never grows. When it is used
up, arrays travel in frames as if there were none.

A peer whose process has ended returns all it was lent. One that was only declared dead does not: its stream may have broken
while it lives and looks (`spec/arrays.md`).
"""

from __future__ import annotations

import fcntl
import mmap
import os
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from farref.impl.core.ids import WorkerId
from farref.impl.errors import WireError

ARRAY_BYTES_MIN: Final = 64 * 1024
SEAL_FUTURE_WRITE: Final = 0x10

Array = npt.NDArray[Any]


class Ending(Protocol):
    """Something that ends at some time."""

    def has_ended(self) -> bool:
        """Say whether it has ended for certain."""

    def close(self) -> None:
        """Look no longer."""


class Arena:
    """The memory that a worker writes: rooms, lent or free. `lives` are the processes of peers, as far as they are known."""

    def __init__(self, size: int, lives: Mapping[WorkerId, Ending] = MappingProxyType({})) -> None:
        self.descriptor = os.memfd_create("farref", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        self._bytes = np.frombuffer(mmap.mmap(self.descriptor, size), np.uint8)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | SEAL_FUTURE_WRITE)
        self._used = 0
        self._free: dict[int, list[int]] = {}
        self.lent: dict[int, tuple[WorkerId, int]] = {}
        """By place: to whom, and how large the room is."""
        self._lives = dict(lives)
        self.lost: set[WorkerId] = set()
        """The peers that were declared dead and may still look."""

    def lend(self, array: Array, peer: WorkerId) -> int | None:
        """Copy an array into a room for a peer, and say its place; or say that there is no room."""
        room = max(ARRAY_BYTES_MIN, 1 << (array.nbytes - 1).bit_length())
        place = self._find(room)
        if place is not None:
            self.lent[place] = (peer, room)
            copy = self._bytes[place : place + array.nbytes].view(array.dtype).reshape(array.shape)
            np.copyto(copy, array)
        return place

    def take_back(self, peer: WorkerId, places: Iterable[int]) -> None:
        """Take rooms back from a peer; it returns only what it was lent."""
        for place in places:
            holder, room = self.lent.get(place, (None, 0))
            if holder != peer:
                raise WireError(f"a peer returns the room at {place}, which it does not have")
            del self.lent[place]
            self._free.setdefault(room, []).append(place)

    def lose(self, peer: WorkerId) -> None:
        """Hear nothing more of a peer. What it was lent comes back when its process has ended."""
        if peer in self._lives:
            self.lost.add(peer)
            self.take_back_from_ended()

    def take_back_from_ended(self) -> None:
        """Take back what peers were lent whose processes have ended."""
        for peer in [peer for peer in self.lost if self._lives[peer].has_ended()]:
            self.lost.discard(peer)
            self.take_back(peer, [place for place, (holder, _) in self.lent.items() if holder == peer])

    def close(self) -> None:
        """Give up the descriptors; the memory goes with the last view of it."""
        os.close(self.descriptor)
        for life in self._lives.values():
            life.close()

    def _find(self, room: int) -> int | None:
        """The room used last is the one still in the processor's caches."""
        free = self._free.get(room)
        if free:
            return free.pop()
        if self._used + room > len(self._bytes):
            return None
        place, self._used = self._used, self._used + room
        return place


class Window:
    """A peer's arena, as it is seen from here. `returned` has the places that nobody here looks at any more."""

    def __init__(self, descriptor: int) -> None:
        try:
            seals = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
            if not seals & fcntl.F_SEAL_SHRINK:
                raise WireError("a peer's memory could be made shorter while it is read")
            self._memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size, prot=mmap.PROT_READ)
        finally:
            os.close(descriptor)
        self._views: dict[int, weakref.ref[Array]] = {}
        self.returned: deque[int] = deque()

    def view(self, place: int, dtype: np.dtype[Any], count: int) -> Array:
        """Look at a room. When this view and all made of it are gone, its place is in `returned`."""
        if place % ARRAY_BYTES_MIN or place + count * dtype.itemsize > len(self._memory):
            raise WireError("an array lies outside its sender's memory")
        if place in self._views:
            raise WireError("an array lies where another one is still looked at")
        view = np.frombuffer(self._memory, dtype, count, place)
        self._views[place] = weakref.ref(view, lambda _: self._forget(place))
        return view

    def _forget(self, place: int) -> None:
        # May run at any moment, inside any lock: it only removes and appends.
        self._views.pop(place, None)
        self.returned.append(place)
