"""N6: confirmed_by_owner() is wrong in both directions.

It should be true exactly when the owner counts the fork and this worker has been told. On PyTorch 2.13.0 it stays false for
ever on an RRef that came from the owner, which counts it; and it becomes true on an RRef whose creation timed out, though
the owner counts nothing.
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
    time.sleep(4)
    return "the value"


def give() -> Any:
    """Wrap a value here, and share it."""
    return rpc.RRef([1])


def forks() -> int:
    """Say how many forks this worker counts."""
    return int(rpc._rref_context_get_debug_info()["num_forks"])


def experiment() -> tuple[bool, str]:
    """Compare what A says about its RRefs with what their owner counts."""
    given = rpc.rpc_sync("B", give)
    time.sleep(2)
    told, counted = given.confirmed_by_owner(), rpc.rpc_sync("B", forks)
    say(f"A got an RRef from its owner 2 s ago: confirmed_by_owner() is {told}, the owner counts {counted}")
    del given
    time.sleep(0.5)
    value = rpc.remote("B", slow, timeout=0.3)
    time.sleep(1)
    told_early, counted_early = value.confirmed_by_owner(), rpc.rpc_sync("B", forks)
    say(f"A's creation on B has timed out: confirmed_by_owner() is {told_early}, the owner counts {counted_early}")
    wrong = [counted == 1 and not told, counted_early == 0 and told_early]
    return any(wrong), f"it is wrong in {sum(wrong)} of 2 cases"


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
