"""N5: a creation that fails leaves its creator waiting for ever, and shutdown with it.

A creates an RRef on B, but B cannot unpickle the arguments. A should be told, and to_here() should raise that error. On
PyTorch 2.13.0 nothing is told: the callback that learns of the error throws before it has cleaned up. A counts a pending
user and an active call for ever, to_here() waits until its own timeout, and a graceful shutdown does not return.
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

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=10)


class Unreadable:
    """Something that can be pickled, and not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Have int("no number") called to unpickle it."""
        return int, ("no number",)


def take(something: Any) -> Any:
    """Receive something."""
    return something


def leave() -> threading.Thread:
    """Begin a graceful shutdown."""
    thread = threading.Thread(target=rpc.shutdown, daemon=True)
    thread.start()
    return thread


def leave_too() -> None:
    """Begin a graceful shutdown, and answer first."""
    threading.Timer(0.5, leave).start()


def experiment() -> tuple[bool, str]:
    """Let a creation fail, and look what A still waits for."""
    value = rpc.remote("B", take, args=(Unreadable(),))
    time.sleep(1)
    told = rpc._get_debug_info()
    pending = int(told["num_pending_users"])
    say(f"1 s later: {pending} users pending, {told['agent.client_active_calls']} calls active")
    begun, error = time.monotonic(), "nothing"
    try:
        value.to_here(timeout=3)
    except Exception as raised:
        error = str(raised)
    say(f"to_here(timeout=3) raised after {time.monotonic() - begun:.1f} s: {error[:70]}")
    rpc.rpc_sync("B", leave_too)
    thread = leave()
    thread.join(6)
    say(f"6 s after both began a graceful shutdown, A {'is still in it' if thread.is_alive() else 'has left'}")
    if pending == 0 and not thread.is_alive():
        return False, "nothing pends, and shutdown returns"
    return True, f"{pending} user pends; shutdown {'does not return' if thread.is_alive() else 'returns'}"


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
