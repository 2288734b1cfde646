"""What the server imports whose forks the workers are (`starting.py`): all that a worker needs. Nobody else imports this.

The server outlives its driver for a moment. If the driver was killed while it started a world, there may be a worker that was
never told of it, and a folder that no worker knows of: the server leaves neither a complaint nor the folder.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from farref.impl import cluster
from farref.impl.starting import remove_server
from farref.impl.worker.report import remove_world

DRIVER = os.getppid()


def _complain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say what went wrong in a fork that has not become a worker yet, unless its driver was gone before it said what to do."""
    if not issubclass(kind, EOFError | pickle.UnpicklingError):
        sys.__excepthook__(kind, error, trace)


def _tidy_up() -> None:
    """Remove what a driver that was killed has left. Workers end without coming here."""
    for world in Path(tempfile.gettempdir()).glob(f"{cluster.prefix(DRIVER)}*"):
        remove_world(str(world))
    remove_server()


sys.excepthook = _complain
atexit.register(_tidy_up)
gc.freeze()  # what was imported is nobody's garbage: no worker need search it, or copy the pages it lies in
