"""What `os.fork()` makes of a worker. It stays its parent's alone: a child that read or wrote the same streams would take
answers that are the parent's, and give its own in the parent's name.

So the child is no worker. Calls, fetches and futures of the old world end with `NotRunning`, and it may join another world. Its
copies of descriptors are pointed at nothing, without a word to anybody: to close a stream properly would need locks that other
threads may have held, and to unregister one from the poller, which both share, would make the parent deaf.

Nobody is in the middle of a step while a process forks: the locks that a child may need are taken before, in their order.
Python takes first what was registered last, so those with higher numbers in the table of locks are registered before (`LATER`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from farref.impl.tape import tensors
from farref.impl.worker import futures
from farref.impl.worker.process import be_forked, here

if TYPE_CHECKING:
    from farref.impl.worker.worker import Worker

LATER: Final = (futures, tensors)
"""Their locks are taken after the worker's: imported here, they have registered them already."""

_held: Final[list[Worker]] = []


def _before() -> None:
    worker = here()
    if worker is not None:
        worker.lock.acquire()
        _held.append(worker)


def _in_parent() -> None:
    while _held:
        _held.pop().lock.release()


def _in_child() -> None:
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    while _held:
        worker = _held.pop()
        for descriptor in _descriptors(worker):
            os.dup2(nothing, descriptor, inheritable=False)
        worker.closed = worker.released = True
        worker.reactor.abandon()
        be_forked(worker.names[worker.rank])
        worker.lock.release()
    os.close(nothing)


def _descriptors(worker: Worker) -> Iterator[int]:
    """List every descriptor that is open for a worker."""
    yield from (worker.poller.fileno(), worker.reactor.kick)
    yield from (one for connection in worker.connections.values() if (one := connection.stream.fileno()) >= 0)
    yield from () if worker.arena is None else (worker.arena.descriptor,)
    yield from worker.intake.started.descriptors()
    yield from () if worker.intake.mending is None else (worker.intake.mending.listener.fileno(),)


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
