"""N15: a fetch that its user's deletion overtakes is parked on the owner for ever.

A fetches a value from B, and the fetch is slow on its way. Meanwhile A deletes its RRef by force, which is the first step of
a graceful shutdown. The deletion should wait for the fetch. On PyTorch 2.13.0 the deletion overtakes it: B drops the value,
and parks the fetch until the value comes back, which it never does; A waits until its timeout. The fetch is delayed by the
faulty agent that PyTorch ships for its own tests.
"""

import datetime
import functools
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
from torch.distributed.rpc._testing import FaultyTensorPipeRpcBackendOptions

FAULTY = rpc.backend_registry.BackendType["FAULTY_TENSORPIPE"]
rpc.init_rpc = functools.partial(rpc.init_rpc, backend=FAULTY)
OPTIONS = FaultyTensorPipeRpcBackendOptions(
    num_worker_threads=8,
    rpc_timeout=8,
    init_method="",
    messages_to_fail=[],
    messages_to_delay={"PYTHON_RREF_FETCH_CALL": 2.0},
    num_fail_sends=0,
)


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def parked() -> int:
    """Say how many requests this worker has not answered, without the one that asks."""
    return int(rpc._get_debug_info()["agent.server_active_async_calls"])


def fetch(value: Any, ended: list[str]) -> None:
    """Fetch the value, and note how that ends."""
    try:
        ended.append(f"to_here() returned {value.to_here(timeout=5)}")
    except RuntimeError as error:
        ended.append(f"to_here() raised: {str(error)[:90]}")


def experiment() -> tuple[bool | None, str]:
    """Delete an RRef while its fetch is under way."""
    value, ended = rpc.remote("B", make), list[str]()
    time.sleep(1)
    thread = threading.Thread(target=fetch, args=(value, ended), daemon=True)
    thread.start()
    time.sleep(0.7)
    rpc.api._delete_all_user_and_unforked_owner_rrefs(timeout=datetime.timedelta(seconds=2))
    say(f"A's fetch is under way, and A has deleted its RRefs; B has {rpc.rpc_sync('B', parked)} requests unanswered")
    thread.join(8)
    say(f"on A {''.join(ended) or 'the fetch is still waiting'}")
    time.sleep(2)
    say(f"B has {(left := rpc.rpc_sync('B', parked))} requests unanswered")
    return left > 0 or "returned" not in "".join(
        ended
    ), f"the fetch was not answered, and {left} is parked on the owner"


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
