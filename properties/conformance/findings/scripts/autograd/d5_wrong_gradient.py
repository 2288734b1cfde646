"""D5: the pass after a failed one returns a wrong gradient, without an error.

B has a parameter; two calls give A its triple and its quadruple, computed from one intermediate. The first backward uses one
of them only, and raises, as B waits for the other. The second uses both, the triple by way of C: its gradient should be
3 * 2 + 4 * 5 = 26. On PyTorch 2.13.0 it returns without an error, and the gradient is another: B was left half-way in the first
pass and adds what it has of it to the second, since messages say of what context they are and not of what pass. (C and a slow
part of B only make sure of the order of events; without them it happens most of the time.)
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
PARAMETER, OTHER = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
SHARED: list[Any] = []


def linger(_: Any) -> None:
    """Take a while in backward, as a larger model would."""
    time.sleep(2.5)


def scaled(factor: float) -> Any:
    """Compute a multiple of an intermediate that all calls share."""
    if not SHARED:
        SHARED.extend([OTHER * 1, PARAMETER * 1])  # backward goes through the later one first
        SHARED[0].register_hook(linger)
    return SHARED[0] * 0 + SHARED[1] * factor


def later(tensor: Any) -> Any:
    """Give a tensor back; in backward, after a while."""
    result = tensor * 1
    result.register_hook(lambda _: time.sleep(0.3))
    return result


def gradient(context: int) -> float | None:
    """Say what gradient the parameter has."""
    found = dist_autograd.get_gradients(context).get(PARAMETER)
    return None if found is None else float(found)


def backward(context: int, loss: Any) -> str:
    """Run a pass, and say how it ends."""
    try:
        dist_autograd.backward(context, [loss], retain_graph=True)
    except RuntimeError as error:
        return f"raised: {str(error).splitlines()[0][:100]}"
    return "returned"


def experiment() -> tuple[bool | None, str]:
    """Run the same pass in a fresh context, and after a pass that failed."""
    for fail_first in (False, True):
        with dist_autograd.context() as context:
            triple, quadruple = (rpc.rpc_sync("B", scaled, args=(factor,)) for factor in (3.0, 4.0))
            if fail_first:
                say(f"a pass that uses one of the two results {backward(context, triple * 1)}")
                time.sleep(0.5)
            ended = backward(context, rpc.rpc_sync("C", later, args=(triple,)) * 2 + quadruple * 5)
            time.sleep(3)
            got = rpc.rpc_sync("B", gradient, args=(context,))
            say(f"{'the next' if fail_first else 'a first'} pass {ended}; the gradient is {got}, and should be 26")
        if not fail_first and got != 26:
            return None, "the experiment could not be carried out: a first pass gives a wrong gradient"
    if ended != "returned":
        return False, f"the pass after the failed one does not pretend to have worked: it {ended}"
    return got != 26, f"the pass after a failed one returned; the gradient is {got}, and should be 26"


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
