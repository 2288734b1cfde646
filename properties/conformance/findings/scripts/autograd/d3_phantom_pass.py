"""D3: a late gradient starts a pass that nobody asked for.

A calls B and C. In backward B's part raises at once and C's part takes a while. backward raises on A, and the gradient that
comes later from C should be ignored. On PyTorch 2.13.0 A takes it for the first message of a new pass, which then waits for
the gradient of B for ever; the next backward in that context fails with an internal assertion.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=5)


def fail(_: Any) -> None:
    """Raise in backward."""
    raise ValueError("this part of backward fails")


def linger(_: Any) -> None:
    """Take a while in backward."""
    time.sleep(2.5)


def doubled(tensor: Any, how: str) -> Any:
    """Compute something whose backward does as told."""
    result = tensor * 2
    result.register_hook(fail if how == "fails" else linger)
    return result


def passes() -> str:
    """Say in how many backward passes this worker is."""
    return str(rpc._get_debug_info()["num_current_backward_passes"])


def backward(context: int, loss: Any) -> str:
    """Run a pass, and say how it ends."""
    try:
        dist_autograd.backward(context, [loss], retain_graph=True)
    except RuntimeError as error:
        return f"raised: {str(error).splitlines()[0][:110]}"
    return "returned"


def experiment() -> tuple[bool | None, str]:
    """Let one branch fail while the other takes its time."""
    weight = torch.ones(2, requires_grad=True)
    with dist_autograd.context() as context:
        one = rpc.rpc_sync("B", doubled, args=(weight, "fails"))
        other = rpc.rpc_sync("C", doubled, args=(weight, "lingers"))
        loss = (one + other).sum()
        say(f"backward {backward(context, loss)}")
        say(f"A is in {(before := passes())} passes")
        time.sleep(4.5)
        say(f"4.5 s later, with no backward called, A is in {(after := passes())} passes")
        say(f"the next backward {backward(context, loss)}")
    if before != "0":
        return None, "the experiment could not be carried out: the late gradient was not late"
    return after != "0", f"A is in {after} passes, and asked for none"


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
    sys.exit(main(A=experiment, B=None, C=None))
