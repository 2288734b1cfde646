"""Functions about arrays and shared memory that the tests call on other workers."""

from __future__ import annotations

from mmap import mmap
from typing import Any

from farref.impl import get_worker_info
from farref.impl.api import current
from farref.impl.transport.frames import Returned, write_frame


def increase(array: Any) -> Any:
    array += 1
    return array


def is_shared(array: Any) -> bool:
    """Say whether an array lies in a peer's memory."""
    while hasattr(array.base, "base"):
        array = array.base
    return isinstance(getattr(array.base, "obj", array.base), mmap)


def lent() -> int:
    """Say how many rooms of its memory this worker has lent."""
    arena = current().arena
    return len(arena.lent) if arena is not None else 0


def return_room(to: str, place: int) -> None:
    """Return a room that this worker was not lent."""
    connection = current().connections[get_worker_info(to).id]
    connection.queue(write_frame(Returned((place,)), []))
    connection.flush()
