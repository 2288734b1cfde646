"""D6, D7: a released context comes back to life, on caller and callee, and nobody will ever release it.

A calls B in a context and leaves the context before the result is there; B is busy meanwhile. When the call has ended, nobody
should know the context any more. On PyTorch 2.13.0 the message that ends the context overtakes the call, finds nothing to
end, and the call then makes the context on B; its result makes it again on A. Both stay for ever.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=10)


def keep_busy() -> None:
    """Hold Python's lock for a while, as an extension module may do."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        pass
    sys.setswitchinterval(usual)


def doubled(tensor: Any) -> Any:
    """Compute something."""
    return tensor * 2


def contexts() -> int:
    """Say how many contexts this worker has."""
    return int(rpc._get_debug_info()["num_autograd_contexts"])


def experiment() -> tuple[bool, str]:
    """Leave a context while a call in it is under way."""
    busy = rpc.rpc_async("B", keep_busy)
    time.sleep(1)
    with dist_autograd.context():
        call = rpc.rpc_async("B", doubled, args=(torch.ones(2, requires_grad=True),))
    say(f"A left the context; A has {contexts()} contexts")
    busy.wait()
    try:
        say(f"the call returned: {call.wait().tolist()}")
    except RuntimeError as error:
        say(f"the call raised: {str(error).splitlines()[0][:100]}")
    for _ in range(3):
        time.sleep(1)
        left = [contexts(), rpc.rpc_sync("B", contexts)]
        say(f"A has {left[0]} contexts, B has {left[1]}")
    return any(
        left
    ), f"3 s after its last call ended, {left[0]} contexts are left on the caller and {left[1]} on the callee"


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
