"""A request that is sent again after a timeout arrives empty, so that no retry can succeed.

A passes an RRef of B to a function on C, while B pauses for longer than the RPC timeout. C asks B to be counted, times out, and
asks again, which is what retries are for: when B goes on, the function should run. On PyTorch 2.13.0 what is sent again has no
payload, since sending moved it away. B answers each copy with an error, and after six attempts C gives up: the function never
runs. B has taken in the first, late request, and counts C. Nothing is needed but an owner that is once slow for longer than the
RPC timeout, which is a minute by default.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=2)


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def total(value: Any) -> int:
    """Fetch the value from a third worker."""
    return sum(value.to_here())


def forks() -> int:
    """Say how many forks this worker counts."""
    return int(rpc._rref_context_get_debug_info()["num_forks"])


def experiment() -> tuple[bool | None, str]:
    """Share an RRef while its owner pauses for longer than the timeout."""
    value, owner = rpc.remote("B", make), rpc.rpc_sync("B", os.getpid)
    say(f"C adds it up: {rpc.rpc_sync('C', total, args=(value,))}")
    os.kill(owner, signal.SIGSTOP)
    shared = rpc.rpc_async("C", total, args=(value,), timeout=14)
    time.sleep(2.5)
    os.kill(owner, signal.SIGCONT)
    say("B was paused for 2.5 s while A passed the RRef to C again, and goes on")
    try:
        say(f"C adds it up: {shared.wait()}")
        return False, "the function on C ran when B went on"
    except RuntimeError as error:
        say(f"the call of C raised: {str(error)[:80]}")
    say(f"B answers, and counts {(counted := rpc.rpc_sync('B', forks))} forks: A's, and that of C")
    return True, f"10 s after B went on, which counts {counted} forks, the function on C has not run"


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
