"""What an application may choose, and how it names workers."""

from __future__ import annotations

import math
import os
import select
from numbers import Real
from typing import Final

from msgspec import Struct

from farref.impl.core.ids import WorkerId
from farref.impl.errors import RpcError
from farref.impl.limits import NO_CHOICE, Limits, check_limits

FRAME_BYTES_MAX: Final = 64 * 2**20
SHARED_BYTES_MAX: Final = 2**30
FRAME_BYTES_LEAST, FRAME_BYTES_MOST = 2**16, 2**32 - 1
"""A frame has its length in 32 bits (spec/wire.md), and the messages of the protocol itself need some room."""


NEEDED: Final = ((select, "epoll"), (os, "eventfd"), (os, "memfd_create"), (os, "register_at_fork"))
"""What processes of this implementation stand on, and other systems may not have."""


class WorkerInfo(Struct, frozen=True):
    """A worker, by name and rank."""

    name: str
    id: WorkerId


class Tls(Struct, frozen=True):
    """Files in PEM for TLS: this worker's certificate, its key, and the authority that all certificates come from."""

    certificate: str
    key: str
    authority: str


class Settings(Struct, frozen=True):
    """What an application may choose. `address` and `tls` matter with TCP only."""

    rpc_timeout: float = 60.0
    allowed_modules: tuple[str, ...] = ()
    allow_pickle: bool = False
    frame_bytes_max: int = FRAME_BYTES_MAX
    address: str = "127.0.0.1"
    tls: Tls | None = None
    shared_bytes_max: int = SHARED_BYTES_MAX
    """How much memory a worker shares with all its peers at most; with 0 arrays travel in frames."""
    report_seconds: float = 1.0
    """How often a worker writes a report for `farref top`; with 0 never."""
    limits: Limits = NO_CHOICE
    """How much of everything there may be."""
    copy_arrays: bool = False
    """Whether large arrays arrive as copies, which one may write to. Otherwise they are views, which one may not."""
    silence_seconds: float = 30.0
    """How long a worker may say nothing before it is excluded; with 0 silence excludes nobody."""


def check_settings(settings: Settings) -> None:
    """Refuse what cannot work, before anything has begun."""
    missing = [name for module, name in NEEDED if not hasattr(module, name)]
    if missing:
        raise RpcError(
            f"farref.impl needs Linux: there is no {', '.join(missing)} here. All else of farref works without"
        )
    limit = settings.frame_bytes_max
    if not isinstance(limit, int) or not FRAME_BYTES_LEAST <= limit <= FRAME_BYTES_MOST:
        raise RpcError(f"frame_bytes_max is a number from {FRAME_BYTES_LEAST} to {FRAME_BYTES_MOST}, and not {limit!r}")
    shared = settings.shared_bytes_max
    if not isinstance(shared, int) or shared < 0:
        raise RpcError(f"shared_bytes_max is a number of bytes, or 0 for no shared memory, and not {shared!r}")
    every = settings.report_seconds
    if not isinstance(every, (int, float)) or not 0 <= every < float("inf"):
        raise RpcError(f"report_seconds is a number of seconds, or 0 for no reports, and not {every!r}")
    silence = settings.silence_seconds
    if not isinstance(silence, (int, float)) or not 0 <= silence < float("inf"):
        raise RpcError(f"silence_seconds is a number of seconds, or 0 for never, and not {silence!r}")
    check_limits(settings.limits)


DEFAULT: Final = -1
"""PyTorch's word for the timeout of all calls (`rpc_timeout`). None is ours, and means the same."""


def is_default(timeout: object) -> bool:
    """Say whether a timeout is left to `rpc_timeout`."""
    return timeout is None or (isinstance(timeout, Real) and timeout == DEFAULT)


def limit_of(timeout: object) -> float:
    """Say how long to wait. 0 means for ever, wherever a timeout is given."""
    return checked_timeout(timeout) or math.inf


def checked_timeout(timeout: object) -> float:
    """Refuse what is no time to wait: it would pass at once or never, and a worker would be blamed for it."""
    # Not a number is not at least 0 either. What numpy calls a number would spoil the sum with the time of day.
    if isinstance(timeout, (int, float)) and timeout >= 0:
        return timeout
    if isinstance(timeout, Real) and float(timeout) >= 0:
        return float(timeout)
    kind = ValueError if isinstance(timeout, Real) else TypeError
    raise kind(
        f"a timeout is a number of seconds, or 0 (for ever); in a call also None or -1 (the default); not {timeout!r}"
    )
