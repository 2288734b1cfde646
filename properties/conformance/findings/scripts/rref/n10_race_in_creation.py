"""N10: an entry may be erased between being made and its creator being counted.

As a function ends, its owner makes the entry of an RRef, and then counts the creator's fork. Both should be one step. Read in
the code of PyTorch 2.13.0, these are two, each under a lock of its own; if the last other fork is deleted between them, the
entry goes, and whoever fetches the value waits for ever. The gap is short: this program makes thousands of RRefs whose other
fork is deleted about when their function ends, and looks for a fetch that is not answered.
"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=10)


def make(seconds: float) -> int:
    """Make the value in a given time."""
    time.sleep(seconds)
    return 1


def look_at(value: Any) -> bool:
    """Receive the RRef, and let go of it."""
    return bool(value.is_owner())


def counts() -> str:
    """Say how many entries this worker has, and how many forks it counts."""
    told = rpc._rref_context_get_debug_info()
    return f"{told['num_owner_rrefs']} entries, {told['num_forks']} forks"


def is_lost(value: Any) -> bool:
    """Say whether a value cannot be fetched, though its owner answers."""
    try:
        value.to_here(timeout=2)
    except RuntimeError as error:
        say(f"to_here() raised: {str(error)[:60]}; B has {rpc.rpc_sync('B', counts)}")
        try:
            value.to_here(timeout=5)  # was it only slow?
        except RuntimeError as again:
            say(f"to_here() raised again: {str(again)[:60]}; B has {rpc.rpc_sync('B', counts)}")
            return True
    return False


def experiment() -> tuple[bool | None, str]:
    """Create and share, very often, and fetch everything."""
    end, tried, lost = time.monotonic() + 10, 0, 0
    while time.monotonic() < end and not lost:
        values = []
        for _ in range(20):
            values.append(rpc.remote("B", make, args=(random.uniform(0, 0.005),)))
            rpc.rpc_async("C", look_at, args=(values[-1],))
        lost = sum(is_lost(value) for value in values)
        tried += len(values)
    say(f"{tried} RRefs were made, shared and fetched; {lost} could not be fetched")
    if not lost and tried < 100:
        return None, f"the experiment could not be carried out: there was time for {tried} RRefs only"
    return lost > 0, f"{lost} of {tried} values could not be fetched, with their owner answering other calls"


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
