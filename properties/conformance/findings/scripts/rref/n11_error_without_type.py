"""N11: an RRef whose operator failed cannot be passed to its owner.

A creates an RRef on B with a built-in operator that raises. Passing it to a function on B should work, and asking for its
value there should raise the operator's error. On PyTorch 2.13.0 an internal assertion fails as B unpickles the argument,
because the type of what is stored is not the type that A says; and as nothing is rolled back, B keeps the RRef for ever.
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
import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=10)


def look_at(value: Any) -> bool:
    """Receive the RRef, and let go of it."""
    return bool(value.is_owner())


def entries() -> int:
    """Say how many RRefs this worker keeps a value for."""
    return int(rpc._rref_context_get_debug_info()["num_owner_rrefs"])


def experiment() -> tuple[bool, str]:
    """Create an error, and pass it to its owner."""
    value = rpc.remote("B", torch.add, args=(torch.ones(2), torch.ones(3)))
    time.sleep(1)
    failed = None
    try:
        rpc.rpc_sync("B", look_at, args=(value,))
    except Exception as error:
        failed = str(error)
    lines = [line for line in (failed or "").splitlines() if "INTERNAL ASSERT" in line or "expect" in line.lower()]
    say(f"passing it to its owner {'works' if failed is None else 'fails: ' + ' '.join(lines)[:150]}")
    del value
    time.sleep(2)
    say(f"2 s after A let go of it, B keeps {(kept := rpc.rpc_sync('B', entries))}")
    if failed is None and not kept:
        return False, "it can be passed to its owner, and goes away"
    return True, f"passing it {'works' if failed is None else 'fails'}, and {kept or 'nothing'} is kept on the owner"


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
