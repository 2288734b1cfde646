"""N2: a creation that times out leaves an entry on its owner for ever.

A creates an RRef on B with a function that takes longer than the call's timeout, and lets go of it. When the function has
ended, B should soon have nothing left of the RRef. On PyTorch 2.13.0 its entry and the fork of A stay for ever: A took the
timeout for a confirmation and told B that its fork is gone, B did not know the fork yet and ignored that, and then counted
it.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=10)


def slow() -> str:
    """Take longer than the timeout to make the value."""
    time.sleep(1.5)
    return "the value"


def counts() -> tuple[int, int]:
    """Say how many entries this worker has, and how many forks it counts."""
    told = rpc._rref_context_get_debug_info()
    return int(told["num_owner_rrefs"]), int(told["num_forks"])


def experiment() -> tuple[bool, str]:
    """Let a creation time out, let go, and look what stays on the owner."""
    value = rpc.remote("B", slow, timeout=0.3)
    time.sleep(0.8)
    del value
    say("A created an RRef on B, timed out, and let go of it")
    for _ in range(4):
        time.sleep(1)
        left = rpc.rpc_sync("B", counts)
        say(f"B has {left[0]} entries and counts {left[1]} forks")
    if not any(left):
        return False, "nothing is left on the owner"
    return True, "3 s after the function ended its owner keeps an entry and counts a fork that nobody holds"


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
