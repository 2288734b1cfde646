"""How long to wait for what takes no time on an idle machine.

A wait that ends is taken for a fault of the implementation, so on a busy machine it must not end early. The busier the
machine, the longer the wait, up to ten times as long: what hangs is still found.
"""

from __future__ import annotations

import os
import time
from typing import Final

LONGEST: Final = 10.0


def patience(seconds: float) -> float:
    """Give the seconds to wait now, for what would have come within some seconds on an idle machine."""
    return seconds * min(LONGEST, max(1.0, _load()))


def is_exhausted(since: float, seconds: float) -> bool:
    """Say whether all patience is gone since a time of the monotonic clock; the machine may have become busy meanwhile."""
    return time.monotonic() - since > patience(seconds)


def _load() -> float:
    """Give how many processes want to run, for each processor there is."""
    try:
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    except OSError:  # this machine does not say
        return 1.0
