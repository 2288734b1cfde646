"""The forks of a worker that died are counted for ever.

B holds the last reference to a value on A, and is killed. A finds out at once: calls to B fail. Having taken B for dead, A
should say so, and could then free what only B held. On PyTorch 2.13.0 there is nothing that says so, and nothing is freed:
the value stays for as long as A lives.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=5)
KEPT: list[Any] = []


def keep(value: Any) -> int:
    """Hold on to an RRef, and say who does."""
    KEPT.append(value)
    return os.getpid()


def experiment() -> tuple[bool | None, str]:
    """Kill the only holder of an RRef, and wait whether its owner frees the value."""
    pid = rpc.rpc_sync("B", keep, args=(rpc.RRef([1, 2, 3]),))
    os.kill(pid, signal.SIGKILL)
    say("B holds an RRef to a value on A, and was killed")
    try:
        rpc.rpc_sync("B", os.getpid)
        return None, "the experiment could not be carried out: B answers"
    except RuntimeError as error:
        say(f"A calls B: {str(error)[:80]}")
    for _ in range(4):
        time.sleep(1.5)
        told = rpc._rref_context_get_debug_info()
        say(f"A has {told['num_owner_rrefs']} entries and counts {told['num_forks']} forks")
    kept = int(told["num_forks"])
    return kept > 0, f"6 s after its only holder died, A counts {kept} forks of its value"


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
