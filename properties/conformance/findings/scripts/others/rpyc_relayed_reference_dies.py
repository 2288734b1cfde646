"""rpyc: a reference that came through another process dies with that process, while owner and holder live.

A makes an object on B and passes it to C, which keeps it. Then A is killed. C should still reach B's object. With rpyc 6.0.2
C's reference leads through A, and ends with it: EOFError.
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

    def get(self):
        """Give its value."""
        return 7


class Service(rpyc.Service):
    """What a server offers."""

    kept = None

    def exposed_make(self):
        """Make an object here."""
        return Cell()

    def exposed_keep(self, cell):
        """Keep an object of another."""
        Service.kept = cell

    def exposed_read(self):
        """Read what is given."""
        return Service.kept.get()


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


def pass_on():
    """Fork A, which passes an object of B on to C."""
    pid = os.fork()
    if pid == 0:
        connect("C").root.keep(connect("B").root.make())
        open(f"{FOLDER}/done", "w").close()
        time.sleep(60)
    while not os.path.exists(f"{FOLDER}/done"):
        time.sleep(0.02)
    return pid


if __name__ == "__main__":
    processes = [*(serve(name) for name in "BC"), pass_on()]
    said = None
    try:
        c = connect("C")
        print("C reads", c.root.read())
        os.kill(processes[2], signal.SIGKILL)
        os.waitpid(processes[2], 0)
        time.sleep(0.5)
        try:
            print("C reads", c.root.read())
        except Exception as error:
            said = type(error).__name__
    finally:
        for pid in processes[:2]:
            os.kill(pid, signal.SIGKILL)
    print(f"REPRODUCED: {said} when C reads what B owns" if said else "NOT REPRODUCED: C still reads it")
    sys.stdout.flush()
    os._exit(int(said is not None))
