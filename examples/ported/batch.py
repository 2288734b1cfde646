"""A parameter server that answers a whole batch of calls at once, as in PyTorch's tutorial on asynchronous executions.

    python examples/ported/batch.py

Each trainer sends gradients and wants the next model. The server answers nobody until all have sent theirs. Then it makes one
step with their mean, and one future answers all of them. `async_execution` makes that possible: the call of a trainer ends when
the future is done, and no thread of the server waits.

Lines with `# ported` differ from a program for PyTorch: imports, what others may call, where the workers meet, and tensors of
the tape, which has no `nn.Module`.
"""

from __future__ import annotations

import multiprocessing as mp  # ported: torch.multiprocessing
import os
import sys
import tempfile
from dataclasses import dataclass
from threading import Lock

import numpy as np  # ported: torch

import farref.impl as rpc  # ported: torch.distributed.rpc
from farref.impl import RRef, function, futures  # ported: torch.futures; nothing is registered there
from farref.impl.tape import SGD, Tensor, mse_loss, tensor  # ported: torch, torch.optim, torch.nn.functional

TRAINERS, STEPS, BATCH = 3, 80, 8
LINE = (3.0, -2.0)


@function  # ported
@dataclass
class Line:
    """The model: a slope and a height."""

    slope: Tensor
    height: Tensor

    def parameters(self) -> list[Tensor]:
        """List the parameters."""
        return [self.slope, self.height]

    def forward(self, x: Tensor) -> Tensor:
        """Say how high the line is at some places."""
        return x * self.slope + self.height


@function  # ported
class BatchUpdateParameterServer:
    """Has the model, and moves it when every trainer has sent its gradients."""

    def __init__(self, batch_update_size: int) -> None:
        self.model = Line(tensor(np.zeros(1), requires_grad=True), tensor(np.zeros(1), requires_grad=True))
        self.lock = Lock()
        self.future_model: futures.Future[Line] = futures.Future()
        self.batch_update_size = batch_update_size
        self.curr_update_size = self.updates = 0
        self.optimizer = SGD(self.model.parameters(), lr=0.1)

    def get_model(self) -> Line:
        """Give the model as it is."""
        return self.model

    @staticmethod
    @rpc.functions.async_execution
    def update_and_fetch_model(ps_rref: RRef, grads: list[Tensor]) -> futures.Future[Line]:
        """Take gradients in, and answer with the model when all have come."""
        self = ps_rref.local_value()
        with self.lock:
            self.curr_update_size += 1
            for p, g in zip(self.model.parameters(), grads, strict=True):
                p.grad = g if p.grad is None else p.grad + g
            fut: futures.Future[Line] = self.future_model
            if self.curr_update_size >= self.batch_update_size:
                for p in self.model.parameters():
                    p.grad = p.grad / self.batch_update_size
                self.curr_update_size = 0
                self.updates += 1
                self.optimizer.step()
                self.optimizer.zero_grad()
                fut.set_result(self.model)
                self.future_model = futures.Future()
        return fut


class Trainer:
    """Has data of its own, and sends gradients."""

    def __init__(self, ps_rref: RRef, seed: int) -> None:
        self.ps_rref, self.random = ps_rref, np.random.default_rng(seed)

    def train(self) -> list[float]:
        """Make some steps together with the other trainers."""
        m: Line = self.ps_rref.rpc_sync().get_model()
        for _ in range(STEPS):
            x = self.random.normal(size=BATCH)
            loss = mse_loss(m.forward(tensor(x)), tensor(LINE[0] * x + LINE[1]))
            loss.backward()
            m = rpc.rpc_sync(
                self.ps_rref.owner(),
                BatchUpdateParameterServer.update_and_fetch_model,
                args=(self.ps_rref, [p.grad for p in m.parameters()]),
            )
        return [p.item() for p in m.parameters()]


@function  # ported
def run_trainer(ps_rref: RRef, seed: int) -> list[float]:
    """Be a trainer, and say what it has found."""
    return Trainer(ps_rref, seed).train()


def run_ps(trainers: list[str]) -> None:
    """Be the server, and begin the trainers."""
    ps = BatchUpdateParameterServer(len(trainers))
    ps_rref = RRef(ps)
    futs = [rpc.rpc_async(trainer, run_trainer, args=(ps_rref, n)) for n, trainer in enumerate(trainers)]
    for trainer, (slope, height) in zip(trainers, futures.wait_all(futs), strict=True):
        print(f"{trainer} has slope {slope:.3f} and height {height:.3f}")
    print(f"{ps.updates} updates for {STEPS * len(trainers)} calls", flush=True)


def run_worker(rank: int, world_size: int) -> None:
    """Be the server, or a trainer."""
    options = rpc.TensorPipeRpcBackendOptions(num_worker_threads=16, rpc_timeout=0)
    name = "ps" if rank == 0 else f"trainer{rank}"
    rpc.init_rpc(name, rank=rank, world_size=world_size, rpc_backend_options=options)
    if rank == 0:
        run_ps([f"trainer{r}" for r in range(1, world_size)])
    rpc.shutdown(timeout=0)


if __name__ == "__main__":
    world_size = TRAINERS + 1
    with tempfile.TemporaryDirectory() as place:
        os.environ["FARREF_DIRECTORY"] = place  # ported: MASTER_ADDR and MASTER_PORT
        context = mp.get_context("spawn")
        processes = [context.Process(target=run_worker, args=(rank, world_size)) for rank in range(world_size)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    sys.exit(any(process.exitcode for process in processes))
