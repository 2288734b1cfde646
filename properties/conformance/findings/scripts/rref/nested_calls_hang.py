"""Calls nested deeper than both thread pools together hang, and their timeouts do not end them.

A calls B, which calls A, and so on, each with a timeout of 2 s. If the depth is too much for the pools of threads, each call
should end with its timeout's error at the latest. On PyTorch 2.13.0 with the usual 16 threads, depth 30 takes milliseconds,
and depth 34 hangs; after several times the timeout the outermost call has neither returned nor raised.
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

import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=2)


def bounce(depth: int) -> int:
    """Have the other worker do the rest."""
    if depth == 0:
        return 0
    there = "B" if rpc.get_worker_info().name == "A" else "A"
    return 1 + int(rpc.rpc_sync(there, bounce, args=(depth - 1,), timeout=2))


def call(depth: int, ended: list[str]) -> None:
    """Make nested calls, and say how the outermost ends."""
    begun = time.monotonic()
    try:
        ended.append(f"{bounce(depth)} levels")
    except RuntimeError as error:
        ended.append(f"an error: {str(error)[:60]}")
    ended.append(f"{time.monotonic() - begun:.2f} s")


def experiment() -> tuple[bool | None, str]:
    """Nest calls within the pools, and beyond."""
    for depth in (30, 34):
        ended: list[str] = []
        thread = threading.Thread(target=call, args=(depth, ended), daemon=True)
        thread.start()
        thread.join(8)
        say(f"depth {depth}: {' after '.join(ended) or 'neither result nor error after 8 s, with timeouts of 2 s'}")
        if thread.is_alive():
            return depth == 34 or None, f"calls nested {depth} deep with timeouts of 2 s are not back after 8 s"
    return False, "nested calls end, with a result or with an error"


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
