"""D4: a gradient appears after backward has raised.

A calls B, whose part of backward takes longer than the RPC timeout. backward raises on A; after that nothing of that pass
should be seen, then or later. On PyTorch 2.13.0 the gradients are empty at first, and filled in later.
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


def linger(_: Any) -> None:
    """Take longer than the timeout in backward."""
    time.sleep(3.5)


def doubled(tensor: Any) -> Any:
    """Compute something whose backward is slow."""
    result = tensor * 2
    result.register_hook(linger)
    return result


def experiment() -> tuple[bool | None, str]:
    """Let a pass time out, and look at the gradients, twice."""
    weight = torch.ones(2, requires_grad=True)
    with dist_autograd.context() as context:
        loss = rpc.rpc_sync("B", doubled, args=(weight,)).sum()
        try:
            dist_autograd.backward(context, [loss])
            return None, "the experiment could not be carried out: backward did not raise"
        except RuntimeError as error:
            say(f"backward raised: {str(error).splitlines()[0][:90]}")
        seen = []
        for _ in range(2):
            seen.append([gradient.tolist() for gradient in dist_autograd.get_gradients(context).values()])
            say(f"the gradients are {seen[-1]}")
            time.sleep(3)
        seen.append([gradient.tolist() for gradient in dist_autograd.get_gradients(context).values()])
        say(f"the gradients are {seen[-1]}")
    return bool(seen[-1]), f"backward has raised, and the gradients went from {seen[0]} to {seen[-1]}"


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
