"""D8: a call under no_grad is recorded on one side only, and backward fails.

A passes a tensor that needs a gradient to a function on B, under no_grad, and fetches the result outside of it. As the call
was not to be recorded, backward should treat the result as a constant of A's tensor, and give B's parameter its gradient. On
PyTorch 2.13.0 B records the argument all the same, because B asks its own thread; backward then fails, since A has nothing
that belongs to it.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=3)
PARAMETER = torch.full((2,), 3.0, requires_grad=True)


def product(tensor: Any) -> Any:
    """Multiply with the parameter of this worker."""
    return tensor * PARAMETER


def experiment() -> tuple[bool | None, str]:
    """Call under no_grad, fetch with gradients on, and run backward."""
    weight = torch.ones(2, requires_grad=True)
    with dist_autograd.context() as context:
        with torch.no_grad():
            far = rpc.remote("B", product, args=(weight,))
        loss = far.to_here().sum()
        say(f"A fetched {loss.item()}")
        try:
            dist_autograd.backward(context, [loss])
        except RuntimeError as error:
            say(f"backward raised: {str(error).splitlines()[0][:100]}")
            unpaired = "Could not find send function" in str(error)
            return unpaired or None, "backward fails for want of an end of a pair" if unpaired else "another error"
        say(f"backward returned; gradients on A: {list(dist_autograd.get_gradients(context).values())}")
    return False, "backward works"


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
