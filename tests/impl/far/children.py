"""Programs that a worker starts."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import suppress


def leave_streams_open(seconds: float) -> None:
    """Start a program that has a copy of every socket of this worker, so that none of them ends with it."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with suppress(OSError), socket.socket(fileno=os.dup(descriptor)):
            os.set_inheritable(descriptor, True)
    subprocess.Popen(["sleep", str(seconds)], close_fds=False)
