"""A parameter server and two trainers, in the manner of PyTorch's tutorial on parameter servers.

    python examples/ported/parameter_server.py

The server has the parameters of a model. Trainers let it compute, go back through it with distributed autograd, and move its
parameters with a distributed optimizer, both at the same time. All data come from one plane, so they find the same plane.

Lines with `# ported` differ from a program for PyTorch: imports, what others may call, where the workers meet, and tensors of
the tape, which has no `nn.Module`.
"""

from __future__ import annotations

import multiprocessing as mp  # ported: torch.multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np  # ported: torch

import farref.impl as rpc  # ported: torch.distributed.rpc
import farref.impl.autograd as dist_autograd  # ported: torch.distributed.autograd
from farref.impl import RRef, function  # ported: torch.distributed.rpc has RRef, and nothing is registered
from farref.impl.autograd import DistributedOptimizer  # ported: torch.distributed.optim
from farref.impl.tape import SGD, Tensor, mse_loss, tensor  # ported: torch, torch.optim, torch.nn.functional

PLANE, HEIGHT = [2.0, -1.0], 0.5
STEPS, BATCH = 120, 16

global_lock = Lock()
param_server: ParameterServer | None = None


@function  # ported
class ParameterServer:
    """A plane, whose slopes and height are to be found."""

    def __init__(self) -> None:
        self.slopes = tensor(np.zeros((2, 1)), requires_grad=True)  # ported: torch.zeros
        self.height = tensor(np.zeros(1), requires_grad=True)  # ported: torch.zeros

    def forward(self, points: Tensor) -> Tensor:
        """Say how high the plane is at some points."""
        return points @ self.slopes + self.height

    def get_param_rrefs(self) -> list[RRef]:
        """Give references to the parameters, for the optimizer."""
        return [RRef(parameter) for parameter in (self.slopes, self.height)]


@function  # ported
def get_parameter_server() -> ParameterServer:
    """Give the one server of this process to every trainer that asks."""
    global param_server
    with global_lock:
        if param_server is None:
            param_server = ParameterServer()
        return param_server


@function  # ported
def call_method(method: Callable[..., Any], rref: RRef, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a value where it is."""
    return method(rref.local_value(), *args, **kwargs)


def remote_method(method: Callable[..., Any], rref: RRef, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a value on its owner."""
    return rpc.rpc_sync(rref.owner(), call_method, args=[method, rref, *args], kwargs=kwargs)


class TrainerNet:
    """A network whose parameters are all on the server."""

    def __init__(self) -> None:
        self.param_server_rref = rpc.remote("parameter_server", get_parameter_server)

    def get_global_param_rrefs(self) -> list[RRef]:
        """Ask the server for references to its parameters."""
        found: list[RRef] = remote_method(ParameterServer.get_param_rrefs, self.param_server_rref)
        return found

    def forward(self, points: Tensor) -> Tensor:
        """Let the server compute."""
        result: Tensor = remote_method(ParameterServer.forward, self.param_server_rref, points)
        return result


def run_training_loop(rank: int) -> None:
    """Find the plane, together with the other trainer."""
    net = TrainerNet()
    optimizer = DistributedOptimizer(SGD, net.get_global_param_rrefs(), lr=0.1)
    random = np.random.default_rng(rank)  # ported: torch.manual_seed
    for _ in range(STEPS):
        points = random.normal(size=(BATCH, 2))
        heights = points @ np.array(PLANE).reshape(2, 1) + HEIGHT
        with dist_autograd.context() as context_id:
            loss = mse_loss(net.forward(tensor(points)), tensor(heights))
            dist_autograd.backward(context_id, [loss])
            optimizer.step(context_id)
    slopes, height = (rref.to_here() for rref in net.get_global_param_rrefs())
    found = [*slopes.data.ravel(), *height.data]  # ported: tolist
    print(f"trainer{rank} found slopes {found[0]:.2f} and {found[1]:.2f}, height {found[2]:.2f}", flush=True)


def run_worker(rank: int, world_size: int) -> None:
    """Be the server, or a trainer."""
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=16, rpc_timeout=60)
    name = "parameter_server" if rank == 0 else f"trainer{rank}"
    rpc.init_rpc(name, rank=rank, world_size=world_size, rpc_backend_options=options)
    if rank > 0:
        run_training_loop(rank)
    rpc.shutdown(timeout=0)


if __name__ == "__main__":
    world_size = 3
    with tempfile.TemporaryDirectory() as place:
        os.environ["FARREF_DIRECTORY"] = place  # ported: MASTER_ADDR and MASTER_PORT
        context = mp.get_context("spawn")
        processes = [context.Process(target=run_worker, args=(rank, world_size)) for rank in range(world_size)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    sys.exit(any(process.exitcode for process in processes))
