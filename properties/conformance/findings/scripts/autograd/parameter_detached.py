"""An nn.Parameter that is passed to a function on another worker silently gets no gradient.

A passes a Parameter and a plain tensor, both of which need a gradient, to functions on B, and runs backward. Both should get
their gradients. On PyTorch 2.13.0 the Parameter gets none, and no error tells: it is pickled as a Parameter of its own, and
the gradient goes to that temporary copy on B.
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


def doubled(tensor: Any) -> Any:
    """Compute something."""
    return tensor * 2


def experiment() -> tuple[bool | None, str]:
    """Run backward from a plain tensor and from a Parameter."""
    got = {}
    for name, weight in (
        ("tensor", torch.ones(2, requires_grad=True)),
        ("Parameter", torch.nn.Parameter(torch.ones(2))),
    ):
        with dist_autograd.context() as context:
            dist_autograd.backward(context, [rpc.rpc_sync("B", doubled, args=(weight,)).sum()])
            got[name] = weight in dist_autograd.get_gradients(context)
        say(f"backward returned; the {name} has {'a' if got[name] else 'no'} gradient")
    if not got["tensor"]:
        return None, "the experiment could not be carried out: a plain tensor gets no gradient either"
    return not got[
        "Parameter"
    ], f"backward returns without an error; the Parameter has {'a' if got['Parameter'] else 'no'} gradient"


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
