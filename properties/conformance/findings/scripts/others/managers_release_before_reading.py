"""multiprocessing.managers: an object goes while a proxy of it is in a queue.

A puts a proxy into a queue and lets go of it; B takes it out a moment later. The object should be there. With Python 3.11 it is
gone: a proxy counts when it is read, so between writing and reading nobody counts (python/cpython#119937).
"""

import multiprocessing
import sys
import time
from multiprocessing.managers import BaseManager


class Cell:
    """Something that can be referred to."""

    def get(self):
        """Give its value."""
        return 7


def reader(queue, answers, let_go):
    """Read the proxy from the queue, once it has been let go of."""
    let_go.wait()
    try:
        answers.put(f"reads {queue.get().get()}")
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if "Error" in line]
        answers.put(f"{type(error).__name__}: {lines[-1] if lines else error}")


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    BaseManager.register("Cell", Cell)
    manager = BaseManager(ctx=context)
    manager.start()
    queue, answers, let_go = context.Queue(), context.Queue(), context.Event()
    process = context.Process(target=reader, args=(queue, answers, let_go))
    process.start()
    cell = manager.Cell()
    queue.put(cell)
    time.sleep(0.5)  # until it is in the queue
    del cell
    let_go.set()
    found = answers.get(timeout=20)
    print("the reader:", found)
    process.join()
    manager.shutdown()
    is_lost = not found.startswith("reads 7")
    print(f"REPRODUCED: {found}" if is_lost else "NOT REPRODUCED: the object was there")
    sys.exit(int(is_lost))
