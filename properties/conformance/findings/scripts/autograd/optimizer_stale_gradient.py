"""DistributedOptimizer moves a parameter by a gradient of an earlier context.

B has two parameters and an optimizer for both. The first context has gradients for both; the second for one of them only,
so a step with it should leave the other alone. On PyTorch 2.13.0 it moves the other once more, by its gradient of the first
context: the local optimizer writes gradients into .grad and never clears them. (This is so for every optimizer without a
functional twin; those with one, such as SGD, skip the parameter.)
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
from torch.distributed.optim import DistributedOptimizer

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=30)
PARAMETERS = [torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)]


def parameter(number: int) -> Any:
    """Share a parameter of this worker."""
    return rpc.RRef(PARAMETERS[number])


def add_up(numbers: list[int]) -> Any:
    """Compute something that depends on some of the parameters."""
    return sum(PARAMETERS[number] for number in numbers)


def values() -> list[float]:
    """Say what the parameters are."""
    return [round(float(one), 4) for one in PARAMETERS]


def experiment() -> tuple[bool, str]:
    """Take a step with both gradients, then one with the first only."""
    optimizer = DistributedOptimizer(torch.optim.NAdam, [rpc.rpc_sync("B", parameter, (n,)) for n in (0, 1)], lr=0.1)
    seen = [rpc.rpc_sync("B", values)]
    for numbers in ([0, 1], [0]):
        with dist_autograd.context() as context:
            dist_autograd.backward(context, [rpc.rpc_sync("B", add_up, args=(numbers,)).sum()])
            optimizer.step(context)
        seen.append(rpc.rpc_sync("B", values))
        say(f"a step with gradients for parameters {numbers}: {seen[-2]} becomes {seen[-1]}")
    (_, before), (_, after) = seen[1:]
    return before != after, f"a step without a gradient for it took the second parameter from {before} to {after}"


# -- The same in every script of this folder: start the workers, wait for what is found, end the workers. --------------
def say(step: str) -> None:
    """Print a step of the experiment with its time."""
    print(f"{time.monotonic() - START:6.2f} s  {step}", flush=True)


def play(rank: int, roles: dict[str, Any], store: str, results: Any) -> None:
    """Be one of the workers, and hand over what it finds; those that look for nothing answer calls."""
    signal.alarm(LIMIT + 5)  # whatever hangs, and whatever becomes of the parent: this process ends
    warnings.simplefilter("ignore")
    OPTIONS.init_method = f"file://{store}"
    rpc.init_rpc(list(roles)[rank], rank=rank, world_size=len(roles), rpc_backend_options=OPTIONS)
    if role := list(roles.values())[rank]:
        results.send(role())
    time.sleep(LIMIT)


def main(**roles: Any) -> int:
    """Give each worker a process. End with 1 if the defect is there, with 0 if it is not, with 2 if nobody can say."""
    os.environ |= {"TP_SOCKET_IFNAME": "lo", "GLOO_SOCKET_IFNAME": "lo"}
    fork = multiprocessing.get_context("fork")
    results, sender = fork.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        them = [fork.Process(target=play, args=(rank, roles, f"{folder}/store", sender)) for rank in range(len(roles))]
        for process in them:
            process.start()
        defect, sentence = results.recv() if results.poll(LIMIT) else (None, "the experiment could not be carried out")
        for process in them:
            process.kill()
            process.join()
    print("REPRODUCED:" if defect else "NOT REPRODUCED:", sentence)
    return 2 if defect is None else int(defect)


START, LIMIT = time.monotonic(), 40
if __name__ == "__main__":
    sys.exit(main(A=experiment, B=None))
