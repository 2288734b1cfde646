"""rpyc: a worker that is given objects of two forked servers reads the value of one for both.

Two servers are forked from one process and each has an object that was made before the fork. A client passes a reference to
each on to a third server, which reads both. It should read "B" and "C". With rpyc 6.0.2 it reads "B" twice: the identity of an
object is its class and its address, both are the same in the two servers, and nothing says whose they are.
"""

import os
import signal
import sys
import tempfile
import threading
import time

import rpyc
from rpyc.utils.factory import unix_connect
from rpyc.utils.server import ThreadedServer

CONFIG = {"allow_public_attrs": True}
FOLDER = tempfile.mkdtemp()


class Cell:
    """Something that can be referred to."""

    def __init__(self):
        self.value = "made before the fork"

    def get(self):
        """Give its value."""
        return self.value


CELL = Cell()


class Service(rpyc.Service):
    """What a server offers."""

    def exposed_cell(self):
        """Give what was made before the fork."""
        return CELL

    def exposed_read(self, *cells):
        """Read what is given."""
        return tuple(cell.get() for cell in cells)


def serve(name):
    """Fork a server."""
    pid = os.fork()
    if pid == 0:
        CELL.value = name
        ThreadedServer(Service, socket_path=f"{FOLDER}/{name}", protocol_config=CONFIG).start()
    return pid


def connect(name):
    """Connect to a server, and serve what it asks."""
    while True:
        try:
            link = unix_connect(f"{FOLDER}/{name}", config=CONFIG)
            break
        except OSError:  # it does not listen yet
            time.sleep(0.02)
    threading.Thread(target=link.serve_all, daemon=True).start()
    return link


def main():
    """Pass both on, and say what D reads."""
    b, c, d = (connect(name) for name in "BCD")
    first, second = b.root.cell(), c.root.cell()
    print("A itself reads", first.get(), "and", second.get())
    found = d.root.read(first, second)
    print("D reads", *found)
    return found


if __name__ == "__main__":
    servers = [serve(name) for name in "BCD"]
    try:
        found = main()
    finally:
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
    is_wrong = found != ("B", "C")
    print(
        f"REPRODUCED: D was given objects of B and C, and read {found}" if is_wrong else "NOT REPRODUCED: D reads both"
    )
    sys.stdout.flush()
    os._exit(int(is_wrong))
