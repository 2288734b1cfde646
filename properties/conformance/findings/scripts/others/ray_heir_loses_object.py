"""Ray: an object that a live actor holds is freed when the actor in between dies, though its owner lives.

B owns an object. A borrows it, passes the reference on to C, and is killed before it has told B about C. C should still be able
to read the object. With Ray 2.60.0 it is freed: ReferenceCountingAssertionError. Ray's developers say that this is by design.
"""

import os
import signal
import sys
import time

import ray


@ray.remote(num_cpus=0)
class Worker:
    """One actor."""

    def pid(self):
        """Say which process this is."""
        return os.getpid()

    def make(self):
        """Own an object."""
        return [ray.put(b"x" * 200_000)]

    def borrow(self, owner, to):
        """Borrow an object of one, and pass it on to another."""
        self.box = ray.get(owner.make.remote())
        ray.get(to.keep.remote(self.box))

    def keep(self, box):
        """Keep a reference."""
        self.box = box

    def read(self):
        """Read what is given."""
        return len(ray.get(self.box[0], timeout=10))


if __name__ == "__main__":
    quiet = {"include_dashboard": False, "logging_level": "ERROR", "log_to_driver": False}
    ray.init(num_cpus=4, object_store_memory=2**27, **quiet)
    a, b, c = (Worker.remote() for _ in "ABC")
    pid = ray.get(a.pid.remote())
    ray.get(a.borrow.remote(b, c))
    os.kill(pid, signal.SIGKILL)
    time.sleep(3)
    try:
        print("C reads", ray.get(c.read.remote()), "bytes")
        said = None
    except Exception as error:
        said = type(getattr(error, "cause", None) or error).__name__
    ray.shutdown()
    print(f"REPRODUCED: C holds it, B lives, and it is gone: {said}" if said else "NOT REPRODUCED: C reads it")
    sys.stdout.flush()
    os._exit(int(said is not None))
