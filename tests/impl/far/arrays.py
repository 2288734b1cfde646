"""Functions about arrays and shared memory that the tests call on other workers."""

from __future__ import annotations

import os
import socket
import time
from mmap import mmap
from typing import Any, Final

import numpy as np

from farref.impl import get_worker_info, rpc_sync
from farref.impl.api import current
from farref.impl.tape import gradients, tensor
from farref.impl.transport.frames import Returned, write_frame

ELEMENTS: Final = 20_000


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


STATE: Final[dict[str, Any]] = {"count": np.zeros(1)}


def begin(elements: int) -> None:
    """Begin to count, in every element of an array."""
    STATE["count"] = np.zeros(elements)


def count() -> Any:
    """Count one more in place, and return the array itself."""
    STATE["count"] += 1
    return STATE["count"]


def keep(array: Any) -> None:
    """Keep an array of somebody else."""
    STATE["kept"] = array


def kept() -> tuple[float, float]:
    """Say which values the array that was kept has now."""
    return float(STATE["kept"].min()), float(STATE["kept"].max())


def send(to: str, value: float) -> None:
    """Have another worker keep a large array."""
    rpc_sync(to, keep, [np.full(ELEMENTS, value)])


def send_all(to: str, value: float) -> None:
    """Send large arrays, so many that every free room is used."""
    for _ in range(8):
        rpc_sync(to, increased, [np.full(ELEMENTS, value)])


def increased(array: Any) -> float:
    """Add one, elsewhere."""
    return float((array + 1).max())


def break_link(to: str) -> None:
    """Let the stream to a worker end; both live on, and make a new one."""
    connection = current().connections[get_worker_info(to).id]
    epoch = connection.epoch
    with socket.socket(fileno=os.dup(connection.stream.fileno())) as stream:
        stream.shutdown(socket.SHUT_RDWR)
    while connection.epoch == epoch:
        time.sleep(0.01)


def multiply() -> None:
    """Multiply what was kept with a parameter, and keep that."""
    STATE["parameter"] = tensor(np.ones(ELEMENTS), requires_grad=True)
    STATE["loss"] = (STATE["parameter"] * tensor(STATE["kept"])).sum()


def slope() -> tuple[float, float]:
    """Say which values the gradient of the parameter has."""
    found = gradients([STATE["loss"]])[STATE["parameter"]]
    return float(found.min()), float(found.max())
