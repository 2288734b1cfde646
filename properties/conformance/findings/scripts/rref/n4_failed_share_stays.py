"""N4: an RRef in a message that cannot be sent stays counted, or pinned, for ever.

A shares an RRef in a call with a second argument that cannot be pickled. The call raises and nothing is sent, so the fork
that was made for it should be withdrawn. On PyTorch 2.13.0 it is not. If A owns the RRef, A counts a fork that nobody has;
if A is a user of it, A cannot be deleted any more, and its owner keeps the value. No debug information shows the latter.
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


def take(*arguments: Any) -> int:
    """Receive something."""
    return len(arguments)


def counts() -> str:
    """Say what this worker has in the tables of RRefs."""
    told = rpc._rref_context_get_debug_info()
    return f"{told['num_owner_rrefs']} entries, {told['num_forks']} forks"


def share(value: Any, cargo: Any) -> None:
    """Share an RRef together with something else."""
    try:
        rpc.rpc_sync("C", take, args=(value, cargo))
    except Exception as error:
        say(f"the call fails, as it should: {str(error)[:60]}")


def experiment() -> tuple[bool | None, str]:
    """Share an RRef in a good call and in a bad one, as its owner and as a user, and look what stays."""
    left = {}
    for cargo in (1, lambda: 1):
        own, far = rpc.RRef(make()), rpc.remote("B", make)
        far.to_here()
        share(own, cargo)
        share(far, cargo)
        del own, far
        time.sleep(2)
        left[cargo] = counts(), rpc.rpc_sync("B", counts)
        say(f"2 s after A let go of both RRefs: A has {left[cargo][0]}; B has {left[cargo][1]}")
    good, bad = left.values()
    if good != (nothing := ("0 entries, 0 forks",) * 2):
        return None, "the experiment could not be carried out: something stays even after a good call"
    return bad != nothing, "after a failed call A's own entry, B's, or both stay" if bad != nothing else "nothing stays"


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
