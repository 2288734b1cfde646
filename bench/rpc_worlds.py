"""One world of one library, for `bench/rpc.py`: reads names of jobs, a line each, and answers with figures as JSON.

The kinds of world: `farref`, `farref-copies` (large arrays arrive as copies, not as views), `torch` (PyTorch's defaults) and
`torch-uv` (its other transport, with fewer threads: better for large arrays).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench import rpc_jobs

NAMES = ("driver", "B", "C")


@contextmanager
def farref_world(kind: str, workers: int) -> Iterator[Any]:
    """Start a world of farref."""
    from farref import impl

    copies = kind == "farref-copies"
    with impl.launch(NAMES[1:workers], allow=["bench.rpc_jobs"], copy_arrays=copies) as world:
        yield SimpleNamespace(
            rpc_sync=impl.rpc_sync,
            rpc_async=impl.rpc_async,
            remote=impl.remote,
            array=lambda size: np.ones(size // 4, np.float32),
            owned=rpc_jobs.owned_by_farref,
            pids=(os.getpid(), *(world.pid(name) for name in world.names)),
        )


@contextmanager
def torch_world(kind: str, workers: int) -> Iterator[Any]:
    """Start a world of PyTorch: this process and others that run `be_torch`."""
    import torch
    from torch.distributed import rpc

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "bench.rpc_worlds", kind, str(workers), str(port)]
    peers = [subprocess.Popen([*command, str(rank)]) for rank in range(1, workers)]
    be_torch(kind, workers, port, 0)
    try:
        yield SimpleNamespace(
            rpc_sync=rpc.rpc_sync,
            rpc_async=rpc.rpc_async,
            remote=rpc.remote,
            array=lambda size: torch.ones(size // 4),
            owned=rpc_jobs.owned_by_torch,
            pids=(os.getpid(), *(peer.pid for peer in peers)),
        )
        rpc.shutdown()
    except BaseException:
        for peer in peers:
            peer.kill()
        raise
    finally:
        for peer in peers:
            peer.wait()


def be_torch(kind: str, workers: int, port: int, rank: int) -> None:
    """Join a world of PyTorch."""
    from torch.distributed import rpc

    options = rpc.TensorPipeRpcBackendOptions(init_method=f"tcp://127.0.0.1:{port}")
    if kind == "torch-uv":
        options = rpc.TensorPipeRpcBackendOptions(
            init_method=f"tcp://127.0.0.1:{port}", _transports=["uv"], num_worker_threads=4
        )
    rpc.init_rpc(NAMES[rank], rank=rank, world_size=workers, rpc_backend_options=options)


def main(kind: str, workers: int, port: int = 0, rank: int = 0) -> None:
    """Be a worker of PyTorch, or the driver of a world who does the jobs it is told."""
    if rank:
        from torch.distributed import rpc

        be_torch(kind, workers, port, rank)
        rpc.shutdown()
        return
    with (torch_world if kind.startswith("torch") else farref_world)(kind, workers) as rpc:
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(rpc_jobs.JOBS[line.strip()](rpc)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
