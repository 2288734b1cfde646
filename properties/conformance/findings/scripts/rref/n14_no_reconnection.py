"""N14: one broken connection between two workers is final.

A's connections to B are cut, as a network that drops idle connections would do; both processes are alive and could connect
again. Calls made a while later should work. On PyTorch 2.13.0 every later call from A to B fails at once: the pipe to B is
never replaced. So deletes are lost however often they are retried, and B keeps the values for ever.
"""

import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import time
import warnings
from typing import Any

import torch.distributed.rpc as rpc

OPTIONS = rpc.TensorPipeRpcBackendOptions(rpc_timeout=5, _transports=["uv"], _channels=["basic"])


def make() -> list[int]:
    """Make the value."""
    return [1, 2, 3]


def cut_connections() -> int:
    """Shut down every TCP connection that this process has."""
    cut = 0
    for entry in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(entry))) as connection:
                if connection.family == socket.AF_INET and connection.getpeername():
                    connection.shutdown(socket.SHUT_RDWR)
                    cut += 1
        except OSError:
            continue  # no socket, or none with a peer
    return cut


def experiment() -> tuple[bool | None, str]:
    """Cut the connections, wait, and call again."""
    value = rpc.remote("B", make)
    say(f"A fetched {value.to_here()}; now {(cut := cut_connections())} connections are cut")
    if not cut:
        return None, "the experiment could not be carried out: there is no connection to cut"
    failures = 0
    for _ in range(4):
        time.sleep(1)
        try:
            say(f"A fetched {value.to_here()}")
        except RuntimeError as error:
            failures += 1
            say(f"to_here() raised: {str(error)[:80]}")
    return failures == 4, f"{failures} of 4 calls failed, up to 4 s after a connection broke between two live workers"


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
