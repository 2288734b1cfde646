"""Functions that leave a line in a file when they run, so that a caller can see whether they did."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from tests.impl.far.unwritable import Poisoned


def note(place: str, *_: Any) -> None:
    with Path(place).open("a") as file:
        file.write("ran\n")


def note_and_fail(place: str) -> None:
    note(place)
    raise ValueError("no")


def note_and_give_what_nobody_writes(place: str) -> Any:
    note(place)
    return threading.Lock()


def note_and_give_what_nobody_reads(place: str) -> Any:
    note(place)
    return Poisoned()


def note_and_wait(place: str, seconds: float) -> None:
    note(place)
    time.sleep(seconds)


def note_and_end(place: str) -> None:
    note(place)
    os.kill(os.getpid(), signal.SIGKILL)
