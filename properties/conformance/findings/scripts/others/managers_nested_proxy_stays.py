"""multiprocessing.managers: an object whose proxy was once given to its own manager is never released.

An object and a reader are on one manager, and the reader is given a proxy of the object. When all proxies are gone the object
should go. With Python 3.11 the manager keeps it: it remembers what a proxy that came home leads to, and never forgets it
(python/cpython#119937: "nested proxies are never released").
"""

import gc
import multiprocessing
import sys
import time
import weakref
from multiprocessing.managers import BaseManager

CELLS = weakref.WeakSet()


class Cell:
    """Something that can be referred to."""

    def __init__(self):
        CELLS.add(self)

    def get(self):
        """Give its value."""
        return 7


class Reader:
    """Somebody who is given a proxy."""

    def read(self, cell):
        """Read what is given."""
        return cell.get()

    def count(self):
        """Count the objects that are here."""
        gc.collect()
        return len(CELLS)


def left_after(manager, is_given):
    """Say how many objects are left when all have let go."""
    reader, cell = manager.Reader(), manager.Cell()
    before = reader.count()
    assert (reader.read(cell) if is_given else cell.get()) == 7
    del cell
    gc.collect()
    time.sleep(1)
    return reader.count() - before + 1


if __name__ == "__main__":
    BaseManager.register("Cell", Cell)
    BaseManager.register("Reader", Reader)
    manager = BaseManager(ctx=multiprocessing.get_context("fork"))
    manager.start()
    apart, home = left_after(manager, False), left_after(manager, True)
    manager.shutdown()
    print("objects left: of one that only we read", apart, "- of one whose proxy was given to the manager", home)
    print("REPRODUCED: the manager keeps an object that nobody has" if home else "NOT REPRODUCED: it keeps nothing")
    sys.exit(int(home > 0))
