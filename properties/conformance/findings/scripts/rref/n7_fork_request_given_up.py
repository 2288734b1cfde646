"""N7: a fork request that fails too often takes down the process that sent it.

A passes an RRef of B to a function on C, whose requests to be counted by B all fail. The function should be told, or C should
keep trying. On PyTorch 2.13.0 C tries six times in 9 s; then the error is thrown where nobody catches it, and the process of
C is aborted. The requests are made to fail by the faulty agent that PyTorch ships for its own tests.
"""

import functools
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

import torch.distributed.rpc as rpc
from torch.distributed.rpc._testing import FaultyTensorPipeRpcBackendOptions

FAULTY = rpc.backend_registry.BackendType["FAULTY_TENSORPIPE"]
rpc.init_rpc = functools.partial(rpc.init_rpc, backend=FAULTY)
OPTIONS = FaultyTensorPipeRpcBackendOptions(
    num_worker_threads=8,
    rpc_timeout=16,
    init_method="",
    messages_to_fail=["RREF_FORK_REQUEST"],
    messages_to_delay={},
    num_fail_sends=100,
)


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def total(value: Any) -> int:
    """Fetch the value from a third worker."""
    return sum(value.to_here())


def experiment() -> tuple[bool | None, str]:
    """Share an RRef while requests to be counted fail, and see whether the receiver survives."""
    value = rpc.remote("B", make)
    say(f"A created an RRef on B; C is alive: {rpc.rpc_sync('C', os.getpid) > 0}")
    try:
        say(f"C adds it up: {rpc.rpc_sync('C', total, args=(value,))}")
        return None, "the experiment could not be carried out: the requests did not fail"
    except RuntimeError as error:
        say(f"passing it to C raised: {str(error)[:80]}")
    try:
        rpc.rpc_sync("C", os.getpid, timeout=2)
    except RuntimeError as error:
        say(f"A calls C: {str(error)[:80]}")
        return True, "the process that wanted to be counted is gone"
    return False, "the process that wanted to be counted is alive"


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
