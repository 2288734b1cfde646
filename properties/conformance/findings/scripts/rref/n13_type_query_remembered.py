"""N13: a proxy remembers for ever that its first question timed out; and a private method crashes the process.

A calls a method through a proxy of an RRef whose value is not there yet, with a short timeout, and again when the value is
there. The second call should work. On PyTorch 2.13.0 it raises the first one's timeout again, as does every later one: the
proxy asks for the type of the value first, and keeps the answer, whatever it was. Also, RRef._get_future() on an RRef that
was not made here by remote() ends the process with a segmentation fault.
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


def slow() -> str:
    """Take longer than the timeout to make the value."""
    time.sleep(1)
    return "the value"


def crash() -> None:
    """Ask a local RRef for the future of its creation."""
    rpc.RRef(1)._get_future()


def experiment() -> tuple[bool | None, str]:
    """Call through a proxy before and after the value is there, and then crash another worker."""
    value, wrong = rpc.remote("B", slow), []
    for timeout in (0.3, 5):
        try:
            got = f"returned {value.rpc_sync(timeout=timeout).upper()!r}"
        except RuntimeError as error:
            got = f"raised: {str(error)[:50]}"
        say(f"a call through a proxy with a timeout of {timeout} s {got}; the value is {value.to_here()!r}")
    if got.startswith("raised"):
        wrong.append("a proxy repeats an old timeout")
    try:
        rpc.rpc_sync("B", crash)
    except RuntimeError as error:
        say(f"_get_future() on B: {str(error)[:80]}")
        if "eof" in str(error):
            wrong.append("_get_future() ended the process")
    return bool(wrong), "; ".join(wrong) or "the proxy works, and nothing crashes"


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
