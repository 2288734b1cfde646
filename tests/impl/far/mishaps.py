"""What may befall a process while it is a worker: it forks, can start no thread, has no descriptor left. For a moment."""

from __future__ import annotations

import os
import resource
import time
import warnings

from farref.impl import NotRunning, get_worker_info
from tests.impl.far import faults


def fork() -> bool:
    """Make a child that tries to be a worker, and say whether it was told that it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where there are threads: that is the point
        pid = os.fork()
    if pid == 0:
        try:
            get_worker_info()
        except NotRunning:
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def start_no_threads(seconds: float) -> bool:
    """Let every start of a thread fail for a while."""
    faults.start_no_threads()
    try:
        time.sleep(seconds)
    finally:
        faults.start_threads()
    return True


def open_nothing(seconds: float) -> bool:
    """Let every opening of a file, a socket or an event fail for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        time.sleep(seconds)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return True
