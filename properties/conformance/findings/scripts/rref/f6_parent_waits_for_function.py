"""F6: a parent cannot be deleted while the function that received its child runs.

A passes an RRef of B to a function on C that takes 4 s, and lets go of it. As soon as C is counted, A should be free to go;
PyTorch's own design note has C tell A so while the function runs. On PyTorch 2.13.0 C tells A when the function has ended,
and B counts A's fork until then.
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


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def keep_for_a_while(value: Any) -> int:
    """Fetch the value, and take a while."""
    time.sleep(4)
    return sum(value.to_here())


def forks() -> int:
    """Say how many forks this worker counts."""
    return int(rpc._rref_context_get_debug_info()["num_forks"])


def experiment() -> tuple[bool | None, str]:
    """Let go of a parent while its child is in use."""
    value = rpc.remote("B", make)
    value.to_here()
    running = rpc.rpc_async("C", keep_for_a_while, args=(value,))
    del value
    time.sleep(2)
    say(
        f"a function on C has the RRef, and A let go of it 2 s ago; B counts {(counted := rpc.rpc_sync('B', forks))} forks"
    )
    running.wait()
    time.sleep(1)
    say(f"the function has ended; B counts {(left := rpc.rpc_sync('B', forks))} forks")
    if left or not counted:
        return None, "the experiment could not be carried out: the counts are not those of this program"
    return counted == 2, f"while C's function runs {counted} forks are counted; A let go of one of them long before"


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
