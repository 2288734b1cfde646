"""What an application may choose, and how it names workers."""

from __future__ import annotations

from msgspec import Struct

from farref.impl.ids import WorkerId
from farref.impl.wire import FRAME_BYTES_MAX


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
    shared_bytes_max: int = 2**30
    """How much memory a worker shares with all its peers at most; with 0 arrays travel in frames."""
    copy_arrays: bool = False
    """Whether large arrays arrive as copies, which one may write to. Otherwise they are views, which one may not."""
