"""D2: an error in backward leaves another worker in the pass, for ever.

A calls B twice and uses one of the two results, which share a parameter on B. backward raises on A, since B waits for the
gradient of the other result and A's message times out. B should then leave the pass. On PyTorch 2.13.0 it stays in it for as
long as the process lives, also when the context is released: nobody tells it, and it has no timer.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=2)
PARAMETER = torch.ones(2, requires_grad=True)


def scaled(factor: float) -> Any:
    """Compute something that depends on the parameter of this worker."""
    return PARAMETER * factor


def passes() -> str:
    """Say in how many backward passes, and in how many contexts, this worker is."""
    told = rpc._get_debug_info()
    return f"{told['num_current_backward_passes']} pass, {told['num_autograd_contexts']} context"


def experiment() -> tuple[bool, str]:
    """Let a pass fail, and look who is still in it."""
    with dist_autograd.context() as context:
        used, _ = (rpc.rpc_sync("B", scaled, args=(factor,)) for factor in (2.0, 3.0))
        try:
            dist_autograd.backward(context, [used.sum()])
            return False, "backward returns, and needs nobody to leave"
        except RuntimeError as error:
            say(f"backward raised: {str(error).splitlines()[0][:90]}")
    for _ in range(3):
        time.sleep(1.5)
        say(f"A released the context; B is in {(left := rpc.rpc_sync('B', passes))}")
    return not left.startswith("0 pass"), f"4 s after backward raised on A, B is in {left}"


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
