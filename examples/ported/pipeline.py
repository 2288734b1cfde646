"""A network in two parts on two workers, fed with small batches one after the other, as in PyTorch's pipeline tutorial.

    python examples/ported/pipeline.py

The master cuts a batch into small ones. Each goes to the first part as a reference; what that gives goes to the second part as
a reference too, and never through the master. So both parts work at the same time, on different small batches.

Lines with `# ported` differ from a program for PyTorch: imports, what others may call, where the workers meet, and tensors of
the tape, which has no `nn.Module`.
"""

from __future__ import annotations

import multiprocessing as mp  # ported: torch.multiprocessing
import os
import sys
import tempfile
from threading import Lock

import numpy as np  # ported: torch

import farref.impl as rpc  # ported: torch.distributed.rpc
import farref.impl.autograd as dist_autograd  # ported: torch.distributed.autograd
from farref.impl import RRef, function, futures  # ported: torch.futures; nothing is registered there
from farref.impl.autograd import DistributedOptimizer  # ported: torch.distributed.optim
from farref.impl.tape import SGD, Tensor, cat, mse_loss, tanh, tensor  # ported: torch, torch.optim

BATCH, SPLITS, STEPS = 32, (4, 8), 40


class Shard:
    """One part of the network: a matrix."""

    def __init__(self, seed: int, inputs: int, outputs: int) -> None:
        self._lock = Lock()
        weight = np.random.default_rng(seed).normal(size=(inputs, outputs)) / np.sqrt(inputs)
        self.weight = tensor(weight, requires_grad=True)  # ported: torch.nn.Linear

    def parameter_rrefs(self) -> list[RRef]:
        """Give references to the parameters."""
        return [RRef(self.weight)]


@function  # ported
class Shard1(Shard):
    """The first part, which bends what it gives."""

    def forward(self, x_rref: RRef) -> Tensor:
        """Fetch a small batch, and compute."""
        x = x_rref.to_here()
        with self._lock:
            return tanh(x @ self.weight)


@function  # ported
class Shard2(Shard):
    """The second part."""

    def forward(self, x_rref: RRef) -> Tensor:
        """Fetch what the first part has made, and compute."""
        x = x_rref.to_here()
        with self._lock:
            return x @ self.weight  # type: ignore[no-any-return]


class DistNet:
    """Both parts, one after the other."""

    def __init__(self, split_size: int, workers: list[str]) -> None:
        self.split_size = split_size
        self.p1_rref = rpc.remote(workers[0], Shard1, args=(1, 2, 16))
        self.p2_rref = rpc.remote(workers[1], Shard2, args=(2, 16, 1))

    def forward(self, xs: Tensor) -> Tensor:
        """Send all small batches off, then wait for what comes out."""
        out_futures = []
        for start in range(0, len(xs), self.split_size):  # ported: xs.split
            x_rref = RRef(xs[start : start + self.split_size])
            y_rref = self.p1_rref.remote().forward(x_rref)
            z_fut = self.p2_rref.rpc_async().forward(y_rref)
            out_futures.append(z_fut)
        return cat(futures.wait_all(out_futures))

    def parameter_rrefs(self) -> list[RRef]:
        """Give references to all parameters, wherever they are."""
        remote_params: list[RRef] = self.p1_rref.rpc_sync().parameter_rrefs()
        remote_params.extend(self.p2_rref.rpc_sync().parameter_rrefs())
        return remote_params


def run_master(split_size: int) -> None:
    """Train the network with small batches of some size."""
    model = DistNet(split_size, ["worker1", "worker2"])
    opt = DistributedOptimizer(SGD, model.parameter_rrefs(), lr=0.1)
    points = np.random.default_rng(0).normal(size=(BATCH, 2))
    inputs, labels = tensor(points), tensor(np.sin(points[:, :1]) - points[:, 1:] / 2)
    losses = []
    for _ in range(STEPS):
        with dist_autograd.context() as context_id:
            loss = mse_loss(model.forward(inputs), labels)
            dist_autograd.backward(context_id, [loss])
            opt.step(context_id)
            losses.append(loss.item())
    print(f"small batches of {split_size}: loss {losses[0]:.4f}, after {STEPS} steps {losses[-1]:.4f}", flush=True)


def run_worker(rank: int, world_size: int) -> None:
    """Be the master, or one of two workers."""
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=128, rpc_timeout=60)
    name = "master" if rank == 0 else f"worker{rank}"
    rpc.init_rpc(name, rank=rank, world_size=world_size, rpc_backend_options=options)
    if rank == 0:
        for split_size in SPLITS:
            run_master(split_size)
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
