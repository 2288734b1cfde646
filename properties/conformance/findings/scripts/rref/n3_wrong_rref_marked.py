"""N3: only the first RRef whose creation times out is marked as timed out.

A creates two RRefs on B, one after the other, each with a function that takes longer than the call's timeout. Once a
creation has timed out, every use of its RRef should be refused. On PyTorch 2.13.0 the first one is refused and the second
one works as if nothing had happened: the handlers of such errors are made once for each process, and remember the first
RRef for ever.
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
    """Take longer than the timeout to make the value."""
    time.sleep(1.5)
    return "the value"


def is_refused(value: Any) -> bool:
    """Say whether a fetch is refused because the creation timed out."""
    try:
        got = value.to_here()
    except RuntimeError as error:
        say(f"to_here() raises: {str(error)[:75]}")
        return "RRef creation via rpc.remote() timed out" in str(error)
    say(f"to_here() returns {got!r}")
    return False


def experiment() -> tuple[bool | None, str]:
    """Let two creations time out, and use both RRefs."""
    refused = []
    for name in ("first", "second"):
        value = rpc.remote("B", slow, timeout=0.3)
        time.sleep(0.8)
        say(f"A created the {name} RRef and waited until its creation had timed out")
        refused.append(is_refused(value))
    match refused:
        case [True, True]:
            return False, "both are refused"
        case [True, False]:
            return True, "the first RRef that timed out is refused, and the second is not"
    return None, "the experiment could not be carried out: the first RRef is not refused"


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
