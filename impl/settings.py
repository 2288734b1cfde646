"""What an application may choose, and how it names workers."""

from __future__ import annotations

from msgspec import Struct

from farref.impl.ids import WorkerId
from farref.impl.wire import FRAME_BYTES_MAX


class WorkerInfo(Struct, frozen=True):
    """A worker, by name and rank."""

    name: str
    id: WorkerId


class Settings(Struct, frozen=True):
    """What an application may choose."""

    rpc_timeout: float = 60.0
    allowed_modules: tuple[str, ...] = ()
    allow_pickle: bool = False
    frame_bytes_max: int = FRAME_BYTES_MAX
