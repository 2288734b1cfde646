"""Workers as Ray actors: Ray places them on machines and restarts what dies, and the world takes it back as a new one (R44).

    import ray
    from farref.impl import rpc_sync
    from farref.impl.ray_actors import on_ray

    ray.init()
    with on_ray(4, allow=["my_functions"]):
        print(rpc_sync("worker1", my_functions.make))

This process is the driver, as with `launch`, and rank 0. Workers come to its address with a key that is made for this world.
Ray needs `pip install '.[ray]'`; nothing else here does.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from farref.impl import api
from farref.impl.cluster import named
from farref.impl.errors import NotRunning, RpcError
from farref.impl.settings import Settings

FAREWELL_S: Final = 10.0


class Host:
    """The process of one worker. Ray makes it anew, with the same words, when it has died: then it joins again."""

    def __init__(
        self, name: str, rank: int, size: int, place: str, key: str, settings: Settings, timeout: float
    ) -> None:
        api.init_rpc(name, rank=rank, world_size=size, init_method=place, key=key, settings=settings, timeout=timeout)

    def name(self) -> str:
        """Say what this worker is called: it has joined."""
        return api.get_worker_info().name

    def leave(self, timeout: float) -> None:
        """Leave the world together with all others."""
        with suppress(NotRunning):
            api.shutdown(timeout=timeout)


@contextmanager
def on_ray(
    workers: int | Sequence[str],
    *,
    allow: Sequence[str] = (),
    settings: Settings | None = None,
    address: str | None = None,
    actor: Mapping[str, Any] | None = None,
    init_timeout: float = api.INIT_TIMEOUT_S,
    shutdown_timeout: float = api.SHUTDOWN_TIMEOUT_S,
) -> Iterator[dict[str, Any]]:
    """Start workers as Ray actors, be their driver, and clean up whatever happens. Gives the actors by name.

    `allow` names modules whose functions may be called; Ray's processes must be able to import them. `settings` is for
    everything else that `init_rpc` takes. `address` is where this machine is reached, as Ray says unless given. `actor` is what
    Ray is told of each actor: resources, `max_restarts` (without end unless given), and so on.
    """
    ray = _ray()
    names = named(workers)
    chosen = settings or Settings(allowed_modules=tuple(allow))
    place, key = f"tcp://{_free(address or ray.util.get_node_ip_address())}", secrets.token_hex()
    kind = ray.remote(Host).options(**{"max_restarts": -1, "num_cpus": 0, **(actor or {})})
    said = (len(names), place, key, chosen, init_timeout)
    actors = {name: kind.remote(name, rank, *said) for rank, name in enumerate(names) if rank}
    try:
        api.init_rpc(
            names[0], rank=0, world_size=len(names), init_method=place, key=key, settings=chosen, timeout=init_timeout
        )
        yield actors
        leaving = [actor.leave.remote(shutdown_timeout) for actor in actors.values()]
        with suppress(NotRunning):
            api.shutdown(timeout=shutdown_timeout)
        ray.wait(leaving, num_returns=len(leaving), timeout=FAREWELL_S)
    finally:
        with suppress(NotRunning):
            api.shutdown(graceful=False)
        for one in actors.values():
            ray.kill(one)


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise RpcError("Ray is not installed here: pip install '.[ray]' in a checkout of farref") from error
    if not ray.is_initialized():
        raise RpcError("Ray has not begun here: call ray.init() first, with the address of a cluster or without")
    return ray


def _free(host: str) -> str:
    """Find a port of this machine where nobody listens."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        port = listener.getsockname()[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
