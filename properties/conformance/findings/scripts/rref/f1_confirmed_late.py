"""F1: an owner does not count a creation while its function runs.

A creates an RRef on B with a function that takes 3 s. PyTorch's own design note has the owner make the entry, count A and
answer as the call arrives. On PyTorch 2.13.0 B counts nothing until the function has ended, and A is not confirmed until
then; most of the other findings about RRefs grow from this.
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
    """Take a while to make the value."""
    time.sleep(3)
    return "the value"


def forks() -> int:
    """Say how many forks this worker counts."""
    return int(rpc._rref_context_get_debug_info()["num_forks"])


def experiment() -> tuple[bool | None, str]:
    """Look at the owner's table during the function and after it."""
    value, seen = rpc.remote("B", slow), []
    for moment, pause in (("during", 1), ("after", 4)):
        time.sleep(pause)
        seen.append((rpc.rpc_sync("B", forks), value.confirmed_by_owner()))
        say(f"{moment} the function B counts {seen[-1][0]} forks, and A says confirmed: {seen[-1][1]}")
    if seen[1] != (1, True):
        return None, "the experiment could not be carried out: nothing is counted after the function either"
    return seen[0] != (1, True), f"during its function {seen[0][0]} forks are counted, and after it {seen[1][0]}"


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
