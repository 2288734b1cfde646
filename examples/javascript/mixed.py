"""A world of two Python and three JavaScript workers, over the wire of `spec/wire.md`: python examples/javascript/mixed.py

Each side calls the other, refers to what the other owns, and passes such references on. Streams are broken, and one worker is
killed. In the end every table is empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

from farref.impl import (
    RRef,
    Settings,
    autograd,
    function,
    get_debug_info,
    init_rpc,
    remote,
    rpc_async,
    rpc_sync,
    shutdown,
)

NAMES = ["py", "js", "snake", "script", "victim"]  # by rank; the first is this process
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
    program = [sys.executable, __file__] if NAMES[rank] in ("py", "snake") else ["node", str(WORKER)]
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


def breaks() -> None:
    """A stream that breaks is made again, in whichever direction it was made, and no call is lost or runs twice."""
    given: list[list[int]] = []
    runs: set[int] = set()
    for number in range(30):
        futures = [rpc_async("js", "js:ask", args=["snake", "__main__:made", [one]]) for one in range(10)]
        counts = [rpc_async("js", "js:count", args=[f"{number}.{one}"]) for one in range(10)]
        rpc_sync("js", "js:cut", args=[["py", "snake"][number % 2]])
        given.append([future.wait() for future in futures])
        runs.update(count.wait() for count in counts)
    print("streams were broken:", given == [list(range(10))] * 30, runs)


def nothing_left() -> bool:
    """Whether every table of every worker is empty that lives, within some seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        far = [rpc_sync(name, "js:tables") for name in ("js", "script")]
        if not any(any(one.values()) for one in far) and left() + rpc_sync("snake", "__main__:left") == 0:
            return True
        time.sleep(0.05)
    return False


def lose(victim: subprocess.Popen[bytes]) -> None:
    """What a killed worker held is given back, whatever the language of its owner."""
    mine = RRef(21)
    rpc_sync("victim", "js:keep", args=["x", mine])
    rpc_sync("victim", "js:make", args=["y", "js", "js:echo", [1]])
    rpc_sync("victim", "js:make", args=["z", "snake", "__main__:made", [2]])
    rpc_sync("victim", "js:ask", args=["script", "js:value_of", [mine]])
    waiting = rpc_async("script", "js:ask", args=["victim", "js:slow", [60, 0]])
    del mine
    victim.kill()
    try:
        waiting.wait()
    except Exception as error:
        print("a call to it:", str(error).splitlines()[0].split(":")[0])
    print("given back:", nothing_left())


def main() -> int:
    """Be the first worker."""
    with tempfile.TemporaryDirectory() as directory:
        *workers, victim = [start(directory, rank) for rank in range(1, len(NAMES))]
        join(directory, 0)
        calls()
        references()
        contexts()
        breaks()
        print("nothing is left:", nothing_left())
        lose(victim)
        print("left in order:", not shutdown().users, [worker.wait(20) for worker in workers])
    return 0


if __name__ == "__main__":
    if sys.argv[1:]:
        join(sys.argv[1], int(sys.argv[2]))
        shutdown(timeout=60)
        os._exit(0)
    sys.exit(main())
