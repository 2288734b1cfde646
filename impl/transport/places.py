"""Who has met in a directory and is still there: each holds a lock on a file of its rank, which ends with its process.

A world takes nobody in after it has met (R34). Whoever comes then, in the place of one that died or beside one that lives,
hears so within a moment and does not wait for workers that listen no more. Those who have begun to leave are there no more, so
that the workers of a world can meet again in the same directory, one after the other.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError

MOMENT_S: Final = 2.0
LOOK_S: Final = 0.02


def who_is_there(directory: Path, world_size: int) -> list[WorkerId]:
    """List those who have met and not begun to leave."""
    return [rank for rank in map(WorkerId, range(world_size)) if _is_there(directory, rank)]


def check_not_met(directory: Path, world_size: int) -> None:
    """Refuse to meet where others have met already and are still there after a moment, in which they may leave."""
    patience = time.monotonic() + MOMENT_S
    while met := who_is_there(directory, world_size):
        if time.monotonic() < patience:
            time.sleep(LOOK_S)
            continue
        names = ", ".join(sorted(_names(directory, met)))
        raise RpcError(
            f"the world in {directory} has come together already, and takes nobody in later (R34). In it: {names}. "
            "Wait until it has ended, or meet in another directory"
        )


def stay(directory: Path, rank: WorkerId) -> int:
    """Let others see that this worker has met and is there, until the descriptor is closed or this process ends."""
    descriptor = os.open(_file(directory, rank), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _is_there(directory: Path, rank: WorkerId) -> bool:
    try:
        descriptor = os.open(_file(directory, rank), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _names(directory: Path, ranks: list[WorkerId]) -> Iterator[str]:
    for rank in ranks:
        name = directory / f"{rank}.name"
        yield name.read_text() if name.exists() else f"worker {rank}"


def _file(directory: Path, rank: WorkerId) -> Path:
    return directory / f"{rank}.met"
