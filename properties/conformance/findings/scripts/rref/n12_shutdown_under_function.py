"""N12: graceful shutdown takes RRefs away from functions that still run.

A passes an RRef to a function on C that uses it after a while; meanwhile all workers begin a graceful shutdown. It should
wait for the function, and the function should get the value. On PyTorch 2.13.0 it does wait, but deletes all RRefs first,
so that the function fails.
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


def use_later(value: Any) -> int:
    """Fetch the value after a while."""
    time.sleep(2)
    return sum(value.to_here())


def leave() -> None:
    """Shut down gracefully, which waits for all workers."""
    rpc.shutdown()
    time.sleep(LIMIT)


def experiment() -> tuple[bool | None, str]:
    """Shut down while a function runs."""
    value = rpc.remote("B", make)
    value.to_here()
    running = rpc.rpc_async("C", use_later, args=(value,))
    time.sleep(0.5)
    say("a function on C has the RRef; all workers begin a graceful shutdown")
    rpc.shutdown()
    say("A has left")
    try:
        say(f"the function on C got: {running.wait()}")
    except Exception as error:
        reason = [line for line in str(error).splitlines() if "has been deleted" in line]
        say(f"the function on C raised: {' '.join(reason)[:170] or error}")
        lost = True if reason else None
        return lost, "the function lost its RRef to a graceful shutdown that waited for it" if lost else "another error"
    return False, "the function got the value"


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
    sys.exit(main(A=experiment, B=leave, C=leave))
