"""The one id that both protocols have: a worker's number, and its name in stories, labels and files."""

from typing import Final, NewType

WorkerId = NewType("WorkerId", int)

WORKER_NAMES: Final = "ABCDEFGH"


def worker_name(worker: WorkerId) -> str:
    """Name a worker as the stories do."""
    return WORKER_NAMES[worker]


def worker_named(name: str) -> WorkerId:
    """Find the worker that has a name."""
    return WorkerId(WORKER_NAMES.index(name))
