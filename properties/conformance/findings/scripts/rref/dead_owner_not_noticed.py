"""A call with an RRef whose owner is dead waits for its timeout, though everybody could know.

B owns a value and is killed. A passes its RRef to a function on C. C cannot be counted any more, so A should be told at once
that B is dead. On PyTorch 2.13.0 the call ends by its timeout only, here 6 s and 60 s by default, and the error names nobody.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=6)


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def total(value: Any) -> int:
    """Fetch the value from a third worker."""
    return sum(value.to_here())


def experiment() -> tuple[bool | None, str]:
    """Share a reference to a dead worker."""
    value = rpc.remote("B", make)
    say(f"C adds it up: {rpc.rpc_sync('C', total, args=(value,))}")
    os.kill(rpc.rpc_sync("B", os.getpid), signal.SIGKILL)
    time.sleep(0.5)
    begun, error = time.monotonic(), "nothing"
    try:
        rpc.rpc_sync("C", total, args=(value,))
    except RuntimeError as raised:
        error = str(raised)
    took = time.monotonic() - begun
    say(f"B was killed; passing its RRef to C raised after {took:.1f} s: {error[:90]}")
    return "set timeout" in error, f"passing an RRef of a dead worker raised after {took:.1f} s: {error[:40]}"


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
