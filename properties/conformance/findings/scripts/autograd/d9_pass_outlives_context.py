"""D9: a worker stays in a backward pass whose context was released.

A's backward waits for the gradient of a call that nobody used (see D1), and meanwhile A releases the context. That should
end the pass: what it is about is gone. On PyTorch 2.13.0 the context goes, and the pass stays for as long as the process
lives, and with it the thread that called backward.
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


def backward(context: int, loss: Any) -> None:
    """Run a pass, and say how it ends."""
    try:
        dist_autograd.backward(context, [loss])
        say("backward returned")
    except RuntimeError as error:
        say(f"backward raised: {str(error).splitlines()[0][:90]}")


def experiment() -> tuple[bool, str]:
    """Release a context in the middle of a pass."""
    weight = torch.ones(2, requires_grad=True)
    with dist_autograd.context() as context:
        rpc.rpc_sync("B", torch.add, args=(weight, 1))
        thread = threading.Thread(target=backward, args=(context, (weight * 2).sum()), daemon=True)
        thread.start()
        thread.join(2)
        if not thread.is_alive():
            return False, "backward does not wait for the unused call"
    for _ in range(3):
        time.sleep(1.5)
        told = rpc._get_debug_info()
        contexts, passes = int(told["num_autograd_contexts"]), int(told["num_current_backward_passes"])
        say(f"after the release A has {contexts} contexts, and is in {passes} passes")
    return passes > 0 and contexts == 0, f"4 s after the release A has {contexts} contexts and is in {passes} passes"


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
