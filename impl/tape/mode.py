"""Whether operations are recorded: a switch for each thread, on until it is turned off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class _Mode(threading.local):
    enabled = True


_mode: Final = _Mode()


def is_grad_enabled() -> bool:
    """Say whether this thread records what it computes."""
    return _mode.enabled


@contextmanager
def set_grad_enabled(enabled: bool) -> Iterator[None]:
    """Record, or do not record, inside a block or a decorated function; afterwards all is as before."""
    before, _mode.enabled = _mode.enabled, enabled
    try:
        yield
    finally:
        _mode.enabled = before


@contextmanager
def no_grad() -> Iterator[None]:
    """Compute without recording: results require no gradient, whatever their inputs do."""
    with set_grad_enabled(False):
        yield
