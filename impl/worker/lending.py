"""What the bodies of messages need of a worker: forks for the references in them, and memory that peers see.

A body is written under no lock, as that may run user code. So each of these takes the lock for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from farref.impl.core.ids import ForkData, WorkerId
from farref.impl.core.messages import Forks
from farref.impl.errors import ReferenceRefused, WireError
from farref.impl.rref import RRef
from farref.impl.values.arena import Array
from farref.impl.values.bodies import Written
from farref.impl.values.tensors import Passage
from farref.impl.worker.recording import opened

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker


class Lending:
    """Mints forks and lends memory for one worker."""

    def __init__(self, worker: Worker, shows_memory: Collection[WorkerId]) -> None:
        """Lend to those that show memory themselves: who shows none has declined to look at any (spec/wire.md)."""
        self._worker, self._lookers = worker, frozenset(shows_memory)
        self.rank, self.names, self.settings = worker.rank, worker.names, worker.settings
        self.functions = worker.functions

    def share(self, handle: RRef, target: WorkerId) -> ForkData:
        """Mint a fork of a handle that is about to be written."""
        if handle.worker is not self._worker:
            raise ReferenceRefused(f"{handle!r} is of another world, which this process has left: it is gone")
        with self._worker.lock:
            return self._worker.core.share(handle.reference, target)

    def check_again(self, target: WorkerId, passage: Passage | None, written: Written) -> None:
        """Ask again, in the step that sends a call, what was so when its arguments were written. Under the lock."""
        try:
            if passage is not None:
                opened(self._worker, passage.context)
            if written[0]:
                self._worker.core.here.check_open()
        except BaseException:
            self._worker.bodies.take_back(target, written)
            raise

    def withdraw(self, forks: Forks) -> None:
        """Take back forks whose message could not be written (R28)."""
        with self._worker.lock:
            self._worker.perform(self._worker.core.withdraw(forks))

    def lend(self, array: Array, target: WorkerId) -> int | None:
        """Copy an array into memory that another worker sees, and say its place; if there is room, and the worker lives."""
        worker = self._worker
        if worker.arena is None or target not in self._lookers:
            return None
        with worker.lock:
            return None if target in worker.core.dead else worker.arena.lend(array, target)

    def unlend(self, target: WorkerId, places: Sequence[int]) -> None:
        """Take back rooms of which a worker has not heard. What a dead one was lent comes back when its process has ended."""
        worker = self._worker
        with worker.lock:
            if worker.arena is not None and target not in worker.core.dead:
                worker.arena.take_back(target, places)

    def take_back(self, peer: WorkerId, places: Iterable[int]) -> None:
        """Have rooms back that a peer no longer looks at."""
        worker = self._worker
        if worker.arena is None:
            raise WireError("a peer returns memory that this worker never had")
        with worker.lock:
            worker.arena.take_back(peer, places)
