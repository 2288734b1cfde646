"""rpyc: an object that was lent to another process, used there and let go is kept for ever.

A makes an object on B, lends it to C in a call, C uses it, and A and C let go. B should then let go of it too.
With rpyc 6.0.2 B keeps it: A still has what it counts for C, though the call is over and garbage was collected everywhere.
"""

import gc
import os
import signal
import sys
import tempfile
import threading
import time
import weakref

import rpyc
from rpyc.utils.factory import unix_connect
from rpyc.utils.server import ThreadedServer

CONFIG = {"allow_public_attrs": True}
FOLDER = tempfile.mkdtemp()
CELLS = weakref.WeakSet()


class Cell:
    """Something that can be referred to."""

    def __init__(self):
        CELLS.add(self)

    def get(self):
        """Give its value."""
        return 7


class Service(rpyc.Service):
    """What a server offers."""

    def exposed_make(self):
        """Make an object here."""
        return Cell()

    def exposed_use(self, cell):
        """Use an object of another."""
        return cell.get()

    def exposed_hold(self, _cell):
        """Be given an object of another."""
        return 7

    def exposed_count(self):
        """Count the objects that are here."""
        gc.collect()
        return len(CELLS)


def serve(name):
    """Fork a server."""
    pid = os.fork()
    if pid == 0:
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


def left_after(b, c, verb):
    """Say how many objects are left when all have let go."""
    cell = b.root.make()
    getattr(c.root, verb)(cell)
    del cell
    for _ in range(20):
        gc.collect()
        c.root.count()
        if b.root.count() == 0:
            return 0
        time.sleep(0.1)
    return b.root.count()


if __name__ == "__main__":
    servers = [serve(name) for name in "BC"]
    try:
        b, c = connect("B"), connect("C")
        unused = left_after(b, c, "hold")
        used = left_after(b, c, "use")
    finally:
        for pid in servers:
            os.kill(pid, signal.SIGKILL)
    print("objects left on B: lent and not used", unused, "- lent and used", used)
    shows = used > 0
    print("REPRODUCED: B keeps an object that nobody has" if shows else "NOT REPRODUCED: B keeps nothing")
    sys.stdout.flush()
    os._exit(int(shows))
