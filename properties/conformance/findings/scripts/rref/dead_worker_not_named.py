"""An error about a dead worker does not say who has died.

A calls a worker, holds an RRef of its value, and the worker is killed. The errors of the next call and of the next fetch
should name that worker, as a program with many of them has to know which one to replace. On PyTorch 2.13.0 both are errors of
the transport, and have neither its name nor its rank.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=6)
PEER = "rank_one"


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def error_of(attempt: Callable[[], Any]) -> str:
    """Say with which error something ends."""
    try:
        return f"none, it gave {attempt()}"
    except RuntimeError as raised:
        return str(raised)


def experiment() -> tuple[bool | None, str]:
    """Use a worker that has died, in two ways."""
    value = rpc.remote(PEER, make)
    say(f"A fetches the value of {PEER}: {value.to_here()}")
    os.kill(rpc.rpc_sync(PEER, os.getpid), signal.SIGKILL)
    time.sleep(0.5)
    errors = [error_of(value.to_here), error_of(lambda: rpc.rpc_sync(PEER, make))]
    for what, error in zip(("fetch", "call"), errors, strict=True):
        say(f"{PEER} was killed; a {what} ends with: {error[:100]}")
    if any(error.startswith("none") for error in errors):
        return None, "something worked with a dead worker"
    unnamed = sum(PEER not in error and "rank 1" not in error for error in errors)
    return unnamed > 0, f"{unnamed} of 2 errors do not name the worker that has died"


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
    sys.exit(main(A=experiment, rank_one=None))
