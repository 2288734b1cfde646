"""D1: backward waits for ever because of a call whose result nobody uses.

In one context A makes a call with a tensor that needs a gradient, drops the result, and computes its loss locally. backward
should give the gradient of that loss, or raise an error that names the unused call. On PyTorch 2.13.0 it blocks without end,
and no timeout applies: the worker waits for a gradient for everything it sent, and has no timer.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from typing import Any

import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=2)


def backward(context: int, loss: Any, ended: list[str]) -> None:
    """Run a pass, and note how it ends."""
    try:
        dist_autograd.backward(context, [loss])
        ended.append("it returned")
    except RuntimeError as error:
        ended.append(f"it raised: {str(error).splitlines()[0][:80]}")


def experiment() -> tuple[bool | None, str]:
    """Run backward with and without an unused call in the context."""
    for calls in (0, 1):
        weight, ended = torch.ones(2, requires_grad=True), list[str]()
        with dist_autograd.context() as context:
            for _ in range(calls):
                rpc.rpc_sync("B", torch.add, args=(weight, 1))
            thread = threading.Thread(target=backward, args=(context, (weight * 2).sum(), ended), daemon=True)
            thread.start()
            thread.join(6)
            seen = list(dist_autograd.get_gradients(context).values())
        say(
            f"with {calls} unused calls: {''.join(ended) or 'blocked for 6 s, three times the RPC timeout'}; gradients: {seen}"
        )
        if thread.is_alive():
            return calls == 1 or None, "backward of a local loss blocks, since the context also has a call nobody used"
    return False, "backward ends in spite of the unused call"


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
