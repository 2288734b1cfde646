"""N1b: between two workers only, the function that waits for a value erases the entry it waits on.

A creates an RRef on B with a slow function, and at once passes it to another function on B. That one passes it to a third
function, on its own worker, and then asks for the value. It should get the value as soon as it is there. On PyTorch 2.13.0
it never does: passing the RRef to oneself adds a fork and takes it away again, it was the only one that B counted, and so
the entry goes while somebody holds it. The end of the slow function makes a second entry. No fault is needed.
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
    time.sleep(2)
    return "the value"


def look_at(value: Any) -> bool:
    """Receive the RRef, and let go of it."""
    return bool(value.is_owner())


def wait_for(value: Any, lend: bool) -> Any:
    """Ask for the value on its owner, after lending the RRef to a function there."""
    if lend:
        rpc.rpc_sync("B", look_at, args=(value,))
    return value.local_value()


def experiment() -> tuple[bool | None, str]:
    """Use the RRef early on its owner, with and without lending it there."""
    for lend in (False, True):
        value = rpc.remote("B", slow)
        early = rpc.rpc_async("B", wait_for, args=(value, lend), timeout=5)
        say(
            f"A created an RRef on B; a function on B waits for it, {'having lent it' if lend else 'and does not lend it'}"
        )
        time.sleep(2.5)
        say(f"A fetches the value: {value.to_here()!r}")
        try:
            say(f"the function on B got: {early.wait()!r}")
        except RuntimeError as error:
            say(f"the function on B is not back: {str(error)[:60]}")
            return lend or None, "a function on the owner still waits for a value that has been there for seconds"
    return False, "the function on the owner got the value, whether or not it lent the RRef"


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
