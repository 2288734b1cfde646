"""N8: after shutdown and a second init_rpc in the same process, RRefs cannot be shared and are never deleted.

All workers use an RRef, shut down gracefully, and initialise RPC again. Then RRefs should work as before. On PyTorch 2.13.0
creating and fetching work; sharing an RRef between two users fails, and RRefs that were let go of stay on their owner: the
context of RRefs lives as long as the process, remembers the first agent, and takes itself for destroyed.
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
RANKS = {"A": 0, "B": 1, "C": 2}


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def total(value: Any) -> int:
    """Fetch the value from a third worker."""
    return sum(value.to_here())


def entries() -> int:
    """Say how many RRefs this worker keeps a value for."""
    return int(rpc._rref_context_get_debug_info()["num_owner_rrefs"])


def use_rref() -> str:
    """Create an RRef on B, share it with C, let go of it, and say what happens."""
    value = rpc.remote("B", make)
    try:
        shared = f"C adds it up: {rpc.rpc_sync('C', total, args=(value,))}"
    except RuntimeError as error:
        shared = f"sharing with C fails: {str(error).splitlines()[0][-100:]}"
    del value
    time.sleep(1.5)
    return f"{shared}; afterwards B keeps {rpc.rpc_sync('B', entries)}"


def restart() -> None:
    """Shut down, and initialise RPC again under the same name."""
    name = rpc.get_worker_info().name
    rpc.shutdown()
    OPTIONS.init_method += ".again"
    rpc.init_rpc(name, rank=RANKS[name], world_size=len(RANKS), rpc_backend_options=OPTIONS)
    if name != "A":
        time.sleep(LIMIT)


def experiment() -> tuple[bool, str]:
    """Use an RRef before and after."""
    before = use_rref()
    say(before)
    restart()
    say("all workers have shut down and initialised RPC again")
    after = use_rref()
    say(after)
    return after != before, "sharing or deleting fails after a restart" if after != before else "RRefs work as before"


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
    sys.exit(main(A=experiment, B=restart, C=restart))
