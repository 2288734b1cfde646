"""A graceful shutdown waits for a dead worker, for ever.

B is killed, and A shuts down gracefully. Every wait in it should be bounded, and the error should name B. On PyTorch 2.13.0
it does not return: it waits for all workers to arrive at a barrier, by default without a timeout, although A's connection
to B has failed and calls to B raise at once.
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


def leave(ended: list[str]) -> None:
    """Shut down gracefully, and note how that ends."""
    try:
        rpc.shutdown()
        ended.append("it returned")
    except Exception as error:
        ended.append(f"it raised: {str(error)[:90]}")


def experiment() -> tuple[bool | None, str]:
    """Kill a worker, and shut down."""
    os.kill(rpc.rpc_sync("B", os.getpid), signal.SIGKILL)
    try:
        rpc.rpc_sync("B", os.getpid)
        return None, "the experiment could not be carried out: B answers"
    except RuntimeError as error:
        say(f"B was killed; A calls B: {str(error)[:80]}")
    ended: list[str] = []
    thread = threading.Thread(target=leave, args=(ended,), daemon=True)
    thread.start()
    thread.join(8)
    say(f"A shuts down: {''.join(ended) or 'not back after 8 s, four times the RPC timeout'}")
    return thread.is_alive(), "a graceful shutdown with a dead worker does not return" if not ended else ended[0]


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
