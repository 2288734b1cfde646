"""What PyTorch's `init_rpc` is given, read as what ours needs: where workers meet, who this one is, and what it may do.

Workers meet at an address, `tcp://host:port`, where rank 0 listens; or in a directory that only their user can enter, as it
has the key of the world: `file://` and a directory. `env://` reads `FARREF_DIRECTORY`, or `MASTER_ADDR` and `MASTER_PORT` as
PyTorch does. `RANK` and `WORLD_SIZE` are read as there.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from farref.impl.errors import RpcError
from farref.impl.settings import NEEDED, Settings, checked_timeout

DIRECTORY: Final = "FARREF_DIRECTORY"
HOST, PORT = "MASTER_ADDR", "MASTER_PORT"
FILE, TCP, ENVIRONMENT = "file://", "tcp://", "env://"


class BackendType(Enum):
    """PyTorch's name for the only way it talks. Here it says nothing: `transport` does."""

    TENSORPIPE = "TENSORPIPE"


class TensorPipeRpcBackendOptions:
    """PyTorch's options. There are as many threads here as are needed, up to `threads_max`, and no devices."""

    def __init__(
        self,
        *,
        num_worker_threads: int = 16,
        rpc_timeout: float = 60.0,
        init_method: str = ENVIRONMENT,
        device_maps: dict[str, Any] | None = None,
        devices: list[Any] | None = None,
    ) -> None:
        if device_maps or devices:
            raise RpcError("there are no devices here: leave out device_maps and devices")
        self.num_worker_threads = num_worker_threads
        self.rpc_timeout = checked_timeout(rpc_timeout)
        self.init_method = init_method


def is_available() -> bool:
    """Say whether worlds of processes can be made here: that needs Linux."""
    return all(hasattr(module, name) for module, name in NEEDED)


def check_backend(backend: object) -> None:
    """Refuse a backend that is not there."""
    if backend not in (None, BackendType.TENSORPIPE, BackendType.TENSORPIPE.value):
        raise RpcError(f"there is no backend {backend!r}: leave it out, and choose a transport if need be")


def chosen_settings(settings: Settings | None, options: object) -> Settings:
    """Put together what was given as settings and what as PyTorch's options, which say how long calls may take."""
    match options:
        case None:
            return settings or Settings()
        case Settings() if settings is None:
            return options
        case TensorPipeRpcBackendOptions():
            return replace(settings or Settings(), rpc_timeout=options.rpc_timeout)
        case _:
            raise RpcError(
                "rpc_backend_options are TensorPipeRpcBackendOptions(...), or Settings(...) if there are no others"
            )


def meeting_place(directory: str | Path | None, init_method: str | None, options: object) -> Path | tuple[str, int]:
    """Find where the workers meet: in a directory, or at the host and port of rank 0."""
    if directory is not None:
        return Path(directory)
    told = options.init_method if isinstance(options, TensorPipeRpcBackendOptions) else ENVIRONMENT
    method = told if init_method is None else init_method
    if method.startswith(FILE):
        return Path(method.removeprefix(FILE))
    if method.startswith(TCP):
        return _endpoint(method)
    if method == ENVIRONMENT and os.environ.get(DIRECTORY):
        return Path(os.environ[DIRECTORY])
    if method == ENVIRONMENT and os.environ.get(HOST):
        host = os.environ[HOST]
        return _endpoint(f"{TCP}{f'[{host}]' if ':' in host else host}:{os.environ.get(PORT, '')}")
    raise RpcError(
        f"workers meet in a directory that only their user can enter: give directory=..., or set {DIRECTORY}, "
        f"or init_method='{FILE}...'; or at an address: init_method='{TCP}host:port', or set {HOST} and {PORT}; "
        f"not {method!r}"
    )


def _endpoint(method: str) -> tuple[str, int]:
    """Read a host and a port."""
    try:
        found = urlsplit(method)
        host, port = found.hostname, found.port
        is_plain = not (found.path or found.query or found.fragment or found.username)
    except ValueError:
        host, port, is_plain = None, None, False
    if not host or not port or not is_plain:
        raise RpcError(f"an address is {TCP}host:port ({HOST}, {PORT}), with a port from 1 to 65535; not {method!r}")
    return host, port


def position(rank: int, world_size: int | None) -> tuple[int, int]:
    """Find which worker this is, and of how many; what was not given is in the environment."""
    try:
        return (
            int(os.environ["RANK"]) if rank == -1 else rank,
            int(os.environ["WORLD_SIZE"]) if world_size is None else world_size,
        )
    except KeyError as missing:
        raise RpcError(f"give rank and world_size, or set RANK and WORLD_SIZE: {missing} is not set") from None
    except ValueError as wrong:
        raise RpcError(f"RANK and WORLD_SIZE are numbers: {wrong}") from None
