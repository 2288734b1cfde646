"""RRefs between real processes: a second witness of the spec, and something to program against.

    from farref.impl import function, launch, remote, rpc_sync

    with launch(2, allow=["my_functions"]):
        x = remote("worker1", my_functions.make)
        print(rpc_sync("worker2", my_functions.use, args=[x]))

The names are PyTorch's. The protocol is the one of `spec/rref.md`, the bytes those of `spec/wire.md`.
"""

from farref.impl.api import (
    get_debug_info,
    get_worker_info,
    init_rpc,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)
from farref.impl.cluster import Cluster, launch
from farref.impl.errors import (
    LimitReached,
    NotRunning,
    PeerDied,
    ReferenceRefused,
    RefusedCall,
    RefusedFunction,
    RefusedResult,
    RefusedValue,
    RemoteError,
    RpcError,
    RpcTimeout,
    UnknownWorker,
    WasExcluded,
)
from farref.impl.functions import function
from farref.impl.futures import Future, collect_all, wait_all
from farref.impl.limits import Limits
from farref.impl.options import BackendType, TensorPipeRpcBackendOptions, is_available
from farref.impl.rref import RRef
from farref.impl.settings import Settings, Tls, WorkerInfo

from farref.impl import autograd  # isort: skip  (it stands on the above; a worker that never imported it has its functions too)

__all__ = [
    "BackendType",
    "Cluster",
    "Future",
    "LimitReached",
    "Limits",
    "NotRunning",
    "PeerDied",
    "RRef",
    "ReferenceRefused",
    "RefusedCall",
    "RefusedFunction",
    "RefusedResult",
    "RefusedValue",
    "RemoteError",
    "RpcError",
    "RpcTimeout",
    "Settings",
    "TensorPipeRpcBackendOptions",
    "Tls",
    "UnknownWorker",
    "WasExcluded",
    "WorkerInfo",
    "autograd",
    "collect_all",
    "function",
    "get_debug_info",
    "get_worker_info",
    "init_rpc",
    "is_available",
    "launch",
    "remote",
    "rpc_async",
    "rpc_sync",
    "shutdown",
    "wait_all",
]
