"""A world of two Python and two JavaScript workers, over the wire of `spec/wire.md`: python examples/javascript/mixed.py

Each side calls the other, refers to what the other owns, and passes such references on. In the end every table is empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

from farref.impl import RRef, Settings, autograd, function, get_debug_info, init_rpc, remote, rpc_sync, shutdown

NAMES = ["py", "js", "snake", "script"]  # by rank; the first is this process
WORKER = Path(__file__).with_name("worker.mjs")


@function
def doubled(number: RRef) -> int:
    """Twice the value of a reference."""
    return int(2 * number.to_here())


@function
def made(value: object) -> object:
    """A value for Python to keep."""
    return value


@function
def left() -> int:
    """How much this worker still keeps, holds, or waits for."""
    tables = get_debug_info()
    return len(tables.entries) + len(tables.users) + len(tables.unanswered) + len(tables.contexts)


def start(directory: str, rank: int) -> subprocess.Popen[bytes]:
    """Start a worker of the language that its name says."""
    program = ["node", str(WORKER)] if NAMES[rank] in ("js", "script") else [sys.executable, __file__]
    return subprocess.Popen([*program, directory, str(rank), NAMES[rank], str(len(NAMES))], stdin=subprocess.DEVNULL)


def join(directory: str, rank: int) -> None:
    """Join the world as one of its Python workers."""
    init_rpc(NAMES[rank], rank=rank, world_size=len(NAMES), directory=directory, settings=Settings(rpc_timeout=10))


def calls() -> None:
    """Values and errors go both ways unharmed."""
    values = [1, 2.0, "ä", [1, (2, {3})], {1: None}, b"x", 2**80, 1 + 2j]
    print("values:", rpc_sync("js", "js:echo", args=[values]) == values)
    array = numpy.arange(50000)
    print("array:", bool((rpc_sync("js", "js:echo", args=[array]) == array).all()))
    print("there and back:", rpc_sync("js", "js:ask", args=["snake", "__main__:made", [5]]))
    try:
        rpc_sync("script", "js:fail", args=["no"])
    except ValueError as error:
        print("error:", str(error).splitlines()[0])


def references() -> None:
    """Whoever owns a value, everybody can refer to it and pass that on."""
    mine, theirs = RRef(21), remote("js", "js:echo", args=[7])
    print("owned by js:", theirs.to_here(), rpc_sync("script", "js:value_of", args=[theirs]))
    print("py to js to snake:", rpc_sync("js", "js:ask", args=["snake", "__main__:doubled", [mine]]))
    print("py to js to script:", rpc_sync("js", "js:ask", args=["script", "js:value_of", [mine]]))
    print("back to their owners:", rpc_sync("js", "js:value_of", args=[theirs]), rpc_sync("js", "js:echo", args=[mine]))
    rpc_sync("script", "js:make", args=["x", "snake", "__main__:made", [9]])
    print("made by script on snake:", rpc_sync("script", "js:give", args=["x"]).to_here())
    rpc_sync("script", "js:drop", args=["x"])


def contexts() -> None:
    """JavaScript has no autograd. It takes calls in a context that bring no tensor, and lets the context close."""
    with autograd.context():
        print("in a context:", rpc_sync("js", "js:echo", args=[3]), remote("script", "js:echo", args=[4]).to_here())


def nothing_left() -> bool:
    """Whether every table of every worker is empty."""
    far = [rpc_sync(name, "js:tables") for name in ("js", "script")]
    return not any(any(one.values()) for one in far) and left() + rpc_sync("snake", "__main__:left") == 0


def main() -> int:
    """Be the first worker."""
    with tempfile.TemporaryDirectory() as directory:
        workers = [start(directory, rank) for rank in (1, 2, 3)]
        join(directory, 0)
        calls()
        references()
        contexts()
        until = time.monotonic() + 10
        while not (empty := nothing_left()) and time.monotonic() < until:
            time.sleep(0.05)
        print("nothing is left:", empty)
        print("left in order:", not shutdown().users, [worker.wait(20) for worker in workers])
    return 0


if __name__ == "__main__":
    if sys.argv[1:]:
        join(sys.argv[1], int(sys.argv[2]))
        shutdown(timeout=60)
        os._exit(0)
    sys.exit(main())
